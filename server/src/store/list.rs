//! Pages of runs. Each page starts after the last run of the previous page, so new runs do not
//! shift the pages.

use crate::store::{
    Store,
    filter::{Condition, Cursor, Filter, Key, SortValue, Term},
    rows,
};
use leadline_protocol::{
    query::{RunSort, SortOrder},
    run::{RunList, RunSummary},
};
use sqlx::{QueryBuilder, Sqlite};

impl Store {
    pub(crate) async fn list(&self, filter: &Filter) -> anyhow::Result<RunList> {
        let mut count = QueryBuilder::new("SELECT count(*) FROM runs WHERE TRUE");
        push_conditions(&mut count, &filter.conditions);
        let mut page = QueryBuilder::new("SELECT * FROM runs WHERE TRUE");
        push_conditions(&mut page, &filter.conditions);
        push_position(&mut page, filter);
        push_order(&mut page, filter);
        // These run concurrently, because each may scan the whole table.
        let (total, rows) = tokio::try_join!(
            count.build_query_scalar().fetch_one(&self.readers),
            page.build().fetch_all(&self.readers),
        )?;
        // Skipped rows must not end the list, so the rows are counted before they are decoded.
        let limit = filter.limit as usize;
        let mut runs = rows::readable(rows.iter().take(limit), "runs", rows::summary);
        let last = runs.last().filter(|_| rows.len() > limit);
        let next_cursor = last.map(|run| cursor(run, filter.sort).encode());
        // Must follow the cursor, which contains a stored value that this call may remove.
        self.mark_damaged(&mut runs).await?;
        Ok(RunList {
            runs,
            next_cursor,
            total,
        })
    }
}

fn push_conditions(query: &mut QueryBuilder<Sqlite>, conditions: &[Condition]) {
    for Condition { term, negated } in conditions {
        query.push(if *negated { " AND NOT (" } else { " AND (" });
        match term {
            Term::Text(text) => push_contains(query, "search", text),
            Term::Name(text) => {
                query.push("instr(lower(name), ").push_bind(text.clone());
                query.push(")");
            }
            Term::Target(text) => {
                query.push("instr(lower(target), ").push_bind(text.clone());
                query.push(")");
            }
            Term::Tag(tags) => {
                query.push("FALSE");
                for tag in tags {
                    query.push(" OR ");
                    let json = serde_json::Value::from(tag.as_str()).to_string();
                    push_contains(query, "tags", &json);
                }
            }
            Term::OneOf(key, values) => {
                let column = column(*key);
                if *negated {
                    // Includes runs without a value.
                    query.push(format_args!("coalesce({column}, '')"));
                } else {
                    query.push(column);
                }
                query.push(" IN (");
                let mut list = query.separated(", ");
                for value in values {
                    list.push_bind(value.clone());
                }
                query.push(")");
            }
        }
        query.push(")");
    }
}

/// GLOB is SQLite's fastest substring search.
fn push_contains(query: &mut QueryBuilder<Sqlite>, column: &str, text: &str) {
    let mut pattern = String::from("*");
    for letter in text.chars() {
        match letter {
            '*' | '?' | '[' => pattern.extend(['[', letter, ']']),
            _ => pattern.push(letter),
        }
    }
    pattern.push('*');
    query
        .push(format_args!("{column} GLOB "))
        .push_bind(pattern);
}

fn column(key: Key) -> &'static str {
    match key {
        Key::Number => "CAST(number AS TEXT)",
        Key::Status => "status",
        Key::Rw => "rw",
        Key::Bs => "lower(bs)",
        Key::Iodepth => "CAST(iodepth AS TEXT)",
        Key::Numjobs => "CAST(numjobs AS TEXT)",
        Key::Mode => "mode",
        Key::Verdict => "verdict",
        Key::Device => "device",
        Key::Host => "host",
        Key::Source => "source",
        Key::Study => "CAST(study AS TEXT)",
        Key::Step => "CAST(step AS TEXT)",
        Key::Job => "job_fingerprint",
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

fn cursor(run: &RunSummary, sort: RunSort) -> Cursor {
    let value = match sort {
        RunSort::Number => None,
        RunSort::Iops => run.iops.map(SortValue::Number),
        RunSort::BytesPerSecond => run.bytes_per_second.map(SortValue::Number),
        RunSort::LatP99Ns => run.lat_p99_ns.map(|ns| SortValue::Number(ns as f64)),
        RunSort::Name => Some(SortValue::Text(run.name.clone())),
        RunSort::CreatedAtMs => Some(SortValue::Number(run.created_at_ms as f64)),
    };
    Cursor {
        number: run.number,
        value,
    }
}

/// Restricts a page to runs after the cursor. Runs without a value come last in both sort orders.
fn push_position(query: &mut QueryBuilder<Sqlite>, filter: &Filter) {
    let Some(cursor) = &filter.cursor else {
        return;
    };
    let column = sort_column(filter.sort);
    let after = match filter.order {
        SortOrder::Asc => ">",
        SortOrder::Desc => "<",
    };
    query.push(" AND (");
    match (filter.sort, &cursor.value) {
        (RunSort::Number, _) => {}
        (_, None) => {
            query.push(format_args!("{column} IS NULL AND "));
        }
        (_, Some(value)) => {
            query.push(format_args!("{column} IS NULL OR {column} {after} "));
            push_value(query, value);
            query.push(format_args!(" OR {column} = "));
            push_value(query, value);
            query.push(" AND ");
        }
    }
    query
        .push(format_args!("number {after} "))
        .push_bind(cursor.number.cast_signed())
        .push(")");
}

/// Fetches one more run than fits on the page, to detect whether there is a next page.
fn push_order(query: &mut QueryBuilder<Sqlite>, filter: &Filter) {
    let order = match filter.order {
        SortOrder::Asc => "ASC",
        SortOrder::Desc => "DESC",
    };
    // With conditions, a scan and a sort are faster than an index in sort order. The `+` disables
    // the index.
    let no_index = if filter.conditions.is_empty() || filter.sort == RunSort::Number {
        ""
    } else {
        "+"
    };
    let column = sort_column(filter.sort);
    query
        .push(format_args!(
            " ORDER BY {no_index}{column} {order} NULLS LAST, number {order} LIMIT "
        ))
        .push_bind(filter.limit + 1);
}

fn push_value(query: &mut QueryBuilder<Sqlite>, value: &SortValue) {
    match value {
        SortValue::Number(number) => query.push_bind(*number),
        SortValue::Text(text) => query.push_bind(text.clone()),
    };
}
