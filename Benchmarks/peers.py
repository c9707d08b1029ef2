"""Does the benchmark's work with SQLAlchemy's mapper over psycopg, and with asyncpg alone.

    python peers.py URI DATABASE

Reads the name of a peer and that of a workload from each line of standard input ("sqlalchemy rows-to-objects"), does
the work once, and answers with a line: how much of it was done per second, or "-" if the peer does not do it. The first
line that it writes says which versions these are.
"""

import asyncio
import concurrent.futures
import functools
import gc
import itertools
import platform
import sys
import time
from collections import defaultdict
from decimal import Decimal

import asyncpg
import psycopg
import sqlalchemy
from sqlalchemy import Column, ForeignKey, Identity, Numeric, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship, selectinload

AUTHORS, BOOKS, TAGS_PER_BOOK = 1_000, 10_000, 3
LOOKUPS, TABLES = 2_000, 3
TASKS, CONNECTIONS, LOOKUPS_PER_TASK = 20, 4, 100

# New values, so that each run changes every row.
years = itertools.count(1_000_000)


def key(step):
    """Between 1 and the number of books, not in the order of the table; the same keys as for the others."""
    return step * 7919 % BOOKS + 1


def expect(is_right):
    if not is_right:
        raise RuntimeError("The result is not the one that was expected")


class Rate:
    """Measures its block; `done` is how much of the work that is."""

    def __init__(self, done):
        self.done = done

    def __enter__(self):
        # Garbage of other work must not count here.
        gc.collect()
        self.start = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.value = self.done / (time.perf_counter() - self.start)


# SQLAlchemy


class Base(DeclarativeBase):
    pass


book_tag = sqlalchemy.Table(
    "book_tag",
    Base.metadata,
    Column("book_id", ForeignKey("book.id"), primary_key=True),
    Column("tag_id", ForeignKey("tag.id"), primary_key=True),
)


class Author(Base):
    __tablename__ = "author"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    born: Mapped[int | None]
    books: Mapped[list["Book"]] = relationship(back_populates="author")


class Book(Base):
    __tablename__ = "book"
    id: Mapped[int] = mapped_column(primary_key=True)
    author_id: Mapped[int] = mapped_column(ForeignKey("author.id"))
    title: Mapped[str]
    year: Mapped[int | None]
    price: Mapped[Decimal | None] = mapped_column(Numeric(8, 2))
    author: Mapped[Author] = relationship(back_populates="books")
    tags: Mapped[list["Tag"]] = relationship(secondary=book_tag)


class Tag(Base):
    __tablename__ = "tag"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class Review(Base):
    __tablename__ = "review"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    book_id: Mapped[int] = mapped_column(ForeignKey("book.id"))
    text: Mapped[str]
    stars: Mapped[int | None]


class SQLAlchemy:
    """A new session for each unit of work, as for each request of a server."""

    def __init__(self, uri, database):
        def engine(connections, **options):
            engine = sqlalchemy.create_engine(
                "postgresql+psycopg://",
                creator=lambda: psycopg.connect(uri, dbname=database),
                pool_size=connections,
                max_overflow=0,
                pool_use_lifo=True,
                **options,
            )
            # Connecting is not measured.
            for connection in [engine.connect() for _ in range(connections)]:
                connection.close()
            return engine

        # Reading needs no BEGIN or ROLLBACK, and the other libraries send none.
        self.reading = engine(CONNECTIONS, isolation_level="AUTOCOMMIT")
        self.writing = engine(1)

    def find(self, step):
        with Session(self.reading) as session:
            expect(session.get(Book, key(step)) is not None)

    def object_by_key(self):
        with Rate(LOOKUPS) as rate:
            for step in range(LOOKUPS):
                self.find(step)
        return rate.value

    def concurrent_by_key(self):
        def work(task):
            for step in range(LOOKUPS_PER_TASK):
                self.find(task * LOOKUPS_PER_TASK + step)

        with Rate(TASKS * LOOKUPS_PER_TASK) as rate, concurrent.futures.ThreadPoolExecutor(TASKS) as threads:
            list(threads.map(work, range(TASKS)))
        return rate.value

    def rows_to_objects(self):
        with Rate(TABLES * BOOKS) as rate:
            for _ in range(TABLES):
                with Session(self.reading) as session:
                    expect(len(session.scalars(select(Book)).all()) == BOOKS)
        return rate.value

    def read_attributes(self):
        with Rate(TABLES * BOOKS) as rate:
            for _ in range(TABLES):
                with Session(self.reading) as session:
                    count = total = 0
                    for book in session.scalars(select(Book)).all():
                        total += book.id + book.author_id + len(book.title) + (book.year or 0)
                        count += book.price is not None
                    expect(total > 0 and count == BOOKS)
        return rate.value

    def loop_over_books(self):
        return self.walk_authors(select(Author))

    def authors_with_books(self):
        return self.walk_authors(select(Author).options(selectinload(Author.books)))

    def walk_authors(self, request):
        with Rate(1) as rate, Session(self.reading) as session:
            counts = [len(author.books) for author in session.scalars(request).all()]
            expect(len(counts) == AUTHORS and sum(counts) == BOOKS)
        return rate.value

    def books_with_author_and_tags(self):
        with Rate(1) as rate, Session(self.reading) as session:
            count = 0
            for book in session.scalars(select(Book).options(selectinload(Book.author), selectinload(Book.tags))).all():
                expect(book.author is not None)
                count += len(book.tags)
            expect(count == TAGS_PER_BOOK * BOOKS)
        return rate.value

    def new_objects(self):
        with self.writing.begin() as connection:
            connection.exec_driver_sql("TRUNCATE review")
        with Rate(BOOKS) as rate, Session(self.writing, expire_on_commit=False) as session:
            reviews = [
                Review(book_id=row % BOOKS + 1, text=f"The review with the number {row}", stars=row % 5)
                for row in range(BOOKS)
            ]
            session.add_all(reviews)
            session.commit()
            expect(len({review.id for review in reviews}) == BOOKS)
        return rate.value

    def changed_objects(self):
        year = next(years)
        with Session(self.writing, expire_on_commit=False) as session:
            books = session.scalars(select(Book)).all()
            # Reading opened a transaction; the measured work begins its own.
            session.commit()
            with Rate(BOOKS) as rate:
                for book in books:
                    book.year = year
                session.commit()
            changed = select(sqlalchemy.func.count()).where(Book.year == year)
            expect(session.scalar(changed) == BOOKS)
        return rate.value


# asyncpg

ALL_AUTHORS = "SELECT id, name, born FROM author"
ALL_BOOKS = "SELECT id, author_id, title, year, price FROM book"
BOOK_BY_KEY = f"{ALL_BOOKS} WHERE id = $1"
BOOKS_OF_AUTHOR = f"{ALL_BOOKS} WHERE author_id = $1"
BOOKS_OF_AUTHORS = f"{ALL_BOOKS} WHERE author_id = ANY ($1::int[])"
TAGS_OF_BOOKS = """
    SELECT t.id, t.name, h.book_id FROM tag t JOIN book_tag h ON h.tag_id = t.id WHERE h.book_id = ANY ($1::int[])
    """
INSERT_REVIEWS = """
    INSERT INTO review (book_id, text, stars) SELECT * FROM unnest($1::int[], $2::text[], $3::int[]) RETURNING id
    """
UPDATE_BOOK = "UPDATE book SET year = $2 WHERE id = $1"


def on_loop(work):
    """Makes a synchronous method from an asynchronous one."""

    @functools.wraps(work)
    def run(self):
        return self.loop.run_until_complete(work(self))

    return run


class AsyncPG:
    """Records and statements by hand; each connection prepares a statement once."""

    def __init__(self, uri, database):
        self.uri, self.database = uri, database
        # One loop for all work, because connections belong to it.
        self.loop = asyncio.new_event_loop()
        self.connect()

    @on_loop
    async def connect(self):
        async def keep(_):
            """Replaces the statements with which the pool resets a connection: the other libraries send none."""

        self.connection = await asyncpg.connect(self.uri, database=self.database)
        self.pool = await asyncpg.create_pool(
            self.uri, database=self.database, min_size=CONNECTIONS, max_size=CONNECTIONS, reset=keep
        )

    @on_loop
    async def object_by_key(self):
        with Rate(LOOKUPS) as rate:
            for step in range(LOOKUPS):
                expect(await self.connection.fetchrow(BOOK_BY_KEY, key(step)) is not None)
        return rate.value

    @on_loop
    async def concurrent_by_key(self):
        async def work(task):
            for step in range(LOOKUPS_PER_TASK):
                expect(await self.pool.fetchrow(BOOK_BY_KEY, key(task * LOOKUPS_PER_TASK + step)) is not None)

        with Rate(TASKS * LOOKUPS_PER_TASK) as rate:
            await asyncio.gather(*map(work, range(TASKS)))
        return rate.value

    @on_loop
    async def rows_to_objects(self):
        with Rate(TABLES * BOOKS) as rate:
            for _ in range(TABLES):
                expect(len(await self.connection.fetch(ALL_BOOKS)) == BOOKS)
        return rate.value

    @on_loop
    async def read_attributes(self):
        with Rate(TABLES * BOOKS) as rate:
            for _ in range(TABLES):
                count = total = 0
                for book in await self.connection.fetch(ALL_BOOKS):
                    total += book["id"] + book["author_id"] + len(book["title"]) + (book["year"] or 0)
                    count += book["price"] is not None
                expect(total > 0 and count == BOOKS)
        return rate.value

    @on_loop
    async def loop_over_books(self):
        with Rate(1) as rate:
            authors = await self.connection.fetch(ALL_AUTHORS)
            counts = [len(await self.connection.fetch(BOOKS_OF_AUTHOR, author["id"])) for author in authors]
            expect(len(counts) == AUTHORS and sum(counts) == BOOKS)
        return rate.value

    @on_loop
    async def authors_with_books(self):
        with Rate(1) as rate:
            authors = await self.connection.fetch(ALL_AUTHORS)
            books = defaultdict(list)
            for book in await self.connection.fetch(BOOKS_OF_AUTHORS, [author["id"] for author in authors]):
                books[book["author_id"]].append(book)
            counts = [len(books[author["id"]]) for author in authors]
            expect(len(counts) == AUTHORS and sum(counts) == BOOKS)
        return rate.value

    @on_loop
    async def books_with_author_and_tags(self):
        with Rate(1) as rate:
            books = await self.connection.fetch(ALL_BOOKS)
            authors = {author["id"]: author for author in await self.connection.fetch(ALL_AUTHORS)}
            tags = defaultdict(list)
            for tag in await self.connection.fetch(TAGS_OF_BOOKS, [book["id"] for book in books]):
                tags[tag["book_id"]].append(tag)
            count = 0
            for book in books:
                expect(authors[book["author_id"]] is not None)
                count += len(tags[book["id"]])
            expect(count == TAGS_PER_BOOK * BOOKS)
        return rate.value

    @on_loop
    async def new_objects(self):
        await self.connection.execute("TRUNCATE review")
        with Rate(BOOKS) as rate:
            rows = range(BOOKS)
            keys = await self.connection.fetch(
                INSERT_REVIEWS,
                [row % BOOKS + 1 for row in rows],
                [f"The review with the number {row}" for row in rows],
                [row % 5 for row in rows],
            )
            expect(len({row["id"] for row in keys}) == BOOKS)
        return rate.value

    @on_loop
    async def changed_objects(self):
        year = next(years)
        with Rate(BOOKS) as rate:
            # One transaction, whose statements are pipelined.
            await self.connection.executemany(UPDATE_BOOK, [(book, year) for book in range(1, BOOKS + 1)])
        expect(await self.connection.fetchval("SELECT count(*) FROM book WHERE year = $1", year) == BOOKS)
        return rate.value


WORKLOADS = {
    "object-by-key",
    "rows-to-objects",
    "read-attributes",
    "loop-over-books",
    "authors-with-books",
    "books-with-author-and-tags",
    "concurrent-by-key",
    "new-objects",
    "changed-objects",
}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    uri, database = sys.argv[1:]

    # Connects at the first request.
    @functools.cache
    def peer(name):
        return {"sqlalchemy": SQLAlchemy, "asyncpg": AsyncPG}[name](uri, database)

    print(
        f"SQLAlchemy {sqlalchemy.__version__} over psycopg {psycopg.__version__},",
        f"asyncpg {asyncpg.__version__}, Python {platform.python_version()}",
        flush=True,
    )
    for line in sys.stdin:
        name, workload = line.split()
        work = getattr(peer(name), workload.replace("-", "_"), None) if workload in WORKLOADS else None
        print(work() if work else "-", flush=True)


if __name__ == "__main__":
    main()
