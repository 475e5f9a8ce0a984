//! Lists of runs: filtered, sorted, a page at a time. Pages go on behind a value (not by count), so that new runs move
//! nothing.

use crate::query::filter::{Condition, Cursor, Filter, Key, Term, Value};
use crate::store::Store;
use crate::store::rows::{RunRow, SUMMARY};
use leadline_protocol::query::{RunSort, SortOrder};
use leadline_protocol::run::RunSummary;
use sqlx::{QueryBuilder, Sqlite};

/// A page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The runs, in order.
    pub runs: Vec<RunSummary>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<Cursor>,
    /// How many runs match on all pages.
    pub total: u64,
}

impl Store {
    /// A page of the runs that a filter lets through.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn list(&self, filter: &Filter) -> anyhow::Result<Page> {
        let mut count = QueryBuilder::<Sqlite>::new("SELECT count(*) FROM runs WHERE TRUE");
        push_conditions(&mut count, &filter.conditions);
        let mut page = QueryBuilder::<Sqlite>::new("");
        page.push(format_args!("SELECT {SUMMARY} FROM runs WHERE TRUE"));
        push_conditions(&mut page, &filter.conditions);
        push_order(&mut page, filter);
        // Each may have to read through everything once: they do it side by side.
        let count = count.build_query_scalar::<i64>().fetch_one(&self.readers);
        let rows = page.build_query_as::<RunRow>().fetch_all(&self.readers);
        let (total, rows) = tokio::try_join!(count, rows)?;
        let mut runs = rows
            .into_iter()
            .map(RunRow::summary)
            .collect::<anyhow::Result<Vec<_>>>()?;
        let more = runs.len() > filter.limit as usize;
        runs.truncate(filter.limit as usize);
        let next = runs.last().filter(|_| more).map(|run| Cursor {
            number: run.number,
            value: sort_value(run, filter.sort),
        });
        Ok(Page {
            runs,
            next,
            total: total.cast_unsigned(),
        })
    }
}

fn push_conditions(query: &mut QueryBuilder<Sqlite>, conditions: &[Condition]) {
    for Condition { term, negated } in conditions {
        query.push(if *negated { " AND NOT (" } else { " AND (" });
        match term {
            Term::Text(text) => push_contains(query, "search", text),
            Term::Name(text) => {
                let plain: String = text
                    .chars()
                    .map(|letter| {
                        if "%_\\".contains(letter) {
                            format!("\\{letter}")
                        } else {
                            letter.into()
                        }
                    })
                    .collect();
                query
                    .push("name LIKE ")
                    .push_bind(format!("%{plain}%"))
                    .push(" ESCAPE '\\'");
            }
            Term::Tag(tags) => push_tags(query, tags),
            // A run without a value is none of them, which NULL would leave open.
            Term::Is(key, words) if *negated => {
                push_is(query, &format!("coalesce({}, '')", column(*key)), words)
            }
            Term::Is(key, words) => push_is(query, column(*key), words),
        }
        query.push(")");
    }
}

/// GLOB is the quickest of SQLite's ways to find a text in a text.
fn push_contains(query: &mut QueryBuilder<Sqlite>, column: &str, text: &str) {
    let plain: String = text
        .chars()
        .map(|letter| {
            if "*?[".contains(letter) {
                format!("[{letter}]")
            } else {
                letter.into()
            }
        })
        .collect();
    query
        .push(format_args!("{column} GLOB "))
        .push_bind(format!("*{plain}*"));
}

fn push_tags(query: &mut QueryBuilder<Sqlite>, tags: &[String]) {
    query.push("FALSE");
    for tag in tags {
        query.push(" OR ");
        push_contains(
            query,
            "tags",
            &serde_json::Value::from(tag.as_str()).to_string(),
        );
    }
}

fn push_is(query: &mut QueryBuilder<Sqlite>, column: &str, words: &[String]) {
    query.push(format_args!("{column} IN "));
    push_list(query, words);
}

fn push_list(query: &mut QueryBuilder<Sqlite>, words: &[String]) {
    query.push("(");
    let mut list = query.separated(", ");
    for word in words {
        list.push_bind(word.clone());
    }
    query.push(")");
}

fn column(key: Key) -> &'static str {
    match key {
        Key::Status => "status",
        Key::Rw => "rw",
        Key::Mode => "mode",
        Key::Verdict => "verdict",
        Key::Device => "device",
        Key::Host => "host",
        Key::Study => "CAST(study AS TEXT)",
    }
}

fn sort_column(sort: RunSort) -> &'static str {
    match sort {
        RunSort::Number => "number",
        RunSort::Iops => "iops",
        RunSort::BytesPerSecond => "bytes_per_second",
        RunSort::LatP99Ns => "lat_p99_ns",
        RunSort::Name => "name COLLATE NOCASE",
        RunSort::CreatedAtMs => "created_at_ms",
    }
}

fn sort_value(run: &RunSummary, sort: RunSort) -> Option<Value> {
    match sort {
        RunSort::Number => None,
        RunSort::Iops => run.iops.map(Value::Number),
        RunSort::BytesPerSecond => run.bytes_per_second.map(Value::Number),
        RunSort::LatP99Ns => run.lat_p99_ns.map(|ns| Value::Number(ns as f64)),
        RunSort::Name => Some(Value::Text(run.name.clone())),
        RunSort::CreatedAtMs => Some(Value::Number(run.created_at_ms as f64)),
    }
}

/// Behind the cursor, in order, one more than the page holds. Runs without the value come last, either way.
fn push_order(query: &mut QueryBuilder<Sqlite>, filter: &Filter) {
    let column = sort_column(filter.sort);
    let (behind, way) = match filter.order {
        SortOrder::Asc => (">", "ASC"),
        SortOrder::Desc => ("<", "DESC"),
    };
    if let Some(cursor) = &filter.cursor {
        query.push(" AND (");
        match (filter.sort, &cursor.value) {
            (RunSort::Number, _) => {}
            (_, None) => {
                query.push(format_args!("{column} IS NULL AND "));
            }
            (_, Some(value)) => {
                query.push(format_args!("{column} IS NULL OR {column} {behind} "));
                push_value(query, value);
                query.push(format_args!(" OR {column} = "));
                push_value(query, value);
                query.push(" AND ");
            }
        }
        query
            .push(format_args!("number {behind} "))
            .push_bind(cursor.number.cast_signed())
            .push(")");
    }
    // With conditions, one pass and a short sort are quicker than the rows in the order of an index: `+` keeps it away.
    let plus = if filter.conditions.is_empty() || filter.sort == RunSort::Number {
        ""
    } else {
        "+"
    };
    query
        .push(format_args!(
            " ORDER BY {plus}{column} {way} NULLS LAST, number {way} LIMIT "
        ))
        .push_bind(filter.limit + 1);
}

fn push_value(query: &mut QueryBuilder<Sqlite>, value: &Value) {
    match value {
        Value::Number(number) => query.push_bind(*number),
        Value::Text(text) => query.push_bind(text.clone()),
    };
}
