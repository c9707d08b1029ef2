extension RestartableServer {
    /// Makes an authority in `data/ca` that has signed certificates for `localhost`: `good`, `expired`, `early`, and `revoked`,
    /// which its list `crl.pem` names.
    func makeAuthority() async throws {
        try await run(
            """
            mkdir -m 755 \(folder)/data/ca && cd \(folder)/data/ca || exit 1
            : >index.txt; echo 01 >serial; echo 01 >crlnumber
            cat >cnf <<'END'
            [ca]
            default_ca = own
            [own]
            database = index.txt
            new_certs_dir = .
            serial = serial
            crlnumber = crlnumber
            certificate = ca.crt
            private_key = ca.key
            default_md = sha256
            default_crl_days = 5
            default_days = 5
            policy = any
            unique_subject = no
            [any]
            commonName = supplied
            END
            openssl req -x509 -newkey rsa:2048 -nodes -days 5 -subj /CN=authority -keyout ca.key -out ca.crt || exit 1
            openssl req -new -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem -out request.pem || exit 1
            sign() { name=$1; shift; openssl ca -batch -config cnf -in request.pem -notext -out $name.crt "$@" || exit 1; }
            sign good
            sign expired -startdate 20200101000000Z -enddate 20210101000000Z
            sign early -startdate 20480101000000Z -enddate 20490101000000Z
            sign revoked
            openssl ca -config cnf -revoke revoked.crt && openssl ca -config cnf -gencrl -out crl.pem || exit 1
            """)
    }

    /// Has new sessions get one of the authority's certificates.
    func useCertificate(_ name: String, port: UInt16) async throws {
        try await run(
            """
            cd \(folder)/data && cp ca/\(name).crt server.crt && cp ca/key.pem server.key && chmod 600 server.key || exit 1
            kill -HUP $(head -n 1 postmaster.pid)
            wanted=$(openssl x509 -noout -serial -in server.crt)
            for attempt in $(seq 600); do
                openssl s_client -starttls postgres -connect 127.0.0.1:\(port) </dev/null 2>/dev/null \
                    | openssl x509 -noout -serial 2>/dev/null | grep -q "^$wanted$" && exit 0
                sleep 0.1
            done
            exit 1
            """)
    }
}
