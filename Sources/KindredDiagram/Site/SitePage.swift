/// The parts that all pages of a site have in common.
enum SitePage {
    /// A page around its contents.
    static func html(title: String, home: String?, _ body: Markup) -> String {
        let back: Markup = home.map { #"<nav><a href="\#($0)">All entities</a></nav>"# } ?? ""
        let page: Markup = """
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title>
            <style>
            \(style)
            </style>
            </head>
            <body>
            \(back)
            \(body)
            </body>
            </html>

            """
        return "<!DOCTYPE html>\n\(DiagramSite.Page.mark)\n" + page.text
    }

    private static let style: Markup = """
        body { font: 15px/1.45 system-ui, sans-serif; color: #24303c; margin: 2em auto; max-width: 75em; padding: 0 1em }
        a { color: #1f5f99; text-decoration: none } a:hover { text-decoration: underline }
        h1 small { font-size: .55em; font-weight: normal; color: #6b7785 }
        table { border-collapse: collapse } th { text-align: left; font-weight: 600 }
        td, th { padding: .2em 1.2em .2em 0; vertical-align: top; border-bottom: 1px solid #e3e9ef }
        .key { text-decoration: underline } .type, .faint { color: #6b7785 } .lost { color: #9a8a80 }
        .picture { overflow: auto; border: 1px solid #e3e9ef; border-radius: 4px; padding: 1em; margin: 1em 0 }
        .picture { max-height: 85vh } .fit svg { max-width: 100%; height: auto } ul { margin: .2em 0 1em } h3 { margin: 1.2em 0 .2em }
        .note { background: #fff6e0; padding: .4em .8em; border-radius: 4px }
        """
}
