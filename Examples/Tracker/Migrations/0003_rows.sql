-- Rows to try the server with: two organizations, of which neither sees anything of the other.

INSERT INTO organization (id, name) VALUES (1, 'Acme'), (2, 'Globex');

INSERT INTO person (organization_id, id, name)
VALUES (1, 1, 'Ada'), (1, 2, 'Ben'), (1, 3, 'Chiara'), (2, 4, 'Dmitri'), (2, 5, 'Elif');

INSERT INTO project (organization_id, id, name)
VALUES (1, 1, 'Website'), (1, 2, 'Warehouse'), (2, 3, 'Rockets');

INSERT INTO membership (organization_id, project_id, person_id, role)
VALUES (1, 1, 1, 'lead'), (1, 1, 2, 'member'), (1, 2, 3, 'lead'), (2, 3, 4, 'lead'), (2, 3, 5, 'guest');

INSERT INTO ticket (organization_id, id, title, status, position, project_id, assignee_id, deleted_at)
VALUES
    (1, 1, 'Draw the pages', 'done', 1, 1, 1, NULL),
    (1, 2, 'Write the texts', 'active', 2, 1, 2, NULL),
    (1, 3, 'Order by telephone', 'open', 3, 1, NULL, '2026-01-07 10:00:00+00'),
    (1, 4, 'Pay by card', 'open', 4, 1, 2, NULL),
    (1, 5, 'Show the stock', 'open', 5, 1, NULL, NULL),
    (1, 6, 'Answer in French', 'open', 6, 1, 1, NULL),
    (1, 7, 'Count the shelves', 'active', 1, 2, 3, NULL),
    (2, 8, 'Find more fuel', 'open', 1, 3, 4, NULL);

INSERT INTO comment (organization_id, id, text, ticket_id, author_id, deleted_at)
VALUES
    (1, 1, 'Who has the photographs?', 2, 1, NULL),
    (1, 2, 'On the shared drive.', 2, 3, NULL),
    (1, 3, 'I was wrong.', 2, 1, '2026-01-08 10:00:00+00'),
    (2, 4, 'Of which kind?', 8, 5, NULL);

INSERT INTO time_entry (organization_id, minutes, day, ticket_id, person_id)
VALUES
    (1, 240, '2026-01-05', 1, 1), (1, 180, '2026-01-06', 1, 1), (1, 90, '2026-01-06', 2, 2),
    (1, 45, '2026-01-07', 3, 2), (1, 60, '2026-01-07', 7, 3), (2, 30, '2026-01-07', 8, 4);

INSERT INTO document (organization_id, id, title, content, project_id)
VALUES
    (1, 1, 'Style', 'Plain words, short sentences.', 1),
    (1, 2, 'Shelves', 'Heavy things stand below.', 2),
    (2, 3, 'Fuel', 'Keep away from fire.', 3);

-- Rows with numbers of their own do not move the numbers that follow.
ALTER TABLE person ALTER id RESTART WITH 100;
ALTER TABLE project ALTER id RESTART WITH 100;
ALTER TABLE ticket ALTER id RESTART WITH 100;
ALTER TABLE comment ALTER id RESTART WITH 100;
ALTER TABLE organization ALTER id RESTART WITH 100;
ALTER TABLE document ALTER id RESTART WITH 100;
