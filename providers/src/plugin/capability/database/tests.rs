use serde_json::{Value, json};

use super::*;
use crate::plugin::capability::desk::tests::ask;

fn database() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::new(folder.path().join("data/plugins.sqlite3"));
    (folder, database)
}

async fn result(database: &Database, name: &str, arguments: Value) -> Value {
    let answer: Value = database.answer(&ask(name, &arguments.to_string())).await.unwrap().to().unwrap();
    assert_eq!(answer["success"], json!(true));
    answer.get("result").or_else(|| answer.get("count")).unwrap().clone()
}

async fn refused(database: &Database, name: &str, arguments: Value) -> Refusal {
    database.answer(&ask(name, &arguments.to_string())).await.unwrap_err()
}

async fn names(database: &Database, mut arguments: Value) -> Vec<String> {
    arguments["model_name"] = json!("Cat");
    let rows = result(database, "database.get", arguments).await;
    rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

async fn cats(database: &Database) {
    for (name, age, tame) in [("Tom", json!(3), true), ("Mia", json!(12), false), ("Old", json!(null), true)] {
        let data = json!({"name": name, "age": age, "tame": tame});
        result(database, "database.save", json!({"model_name": "Cat", "data": data, "key_value": null})).await;
    }
}

#[tokio::test]
async fn rows_are_kept_found_sorted_and_counted() {
    let (_folder, database) = database();
    cats(&database).await;
    assert_eq!(names(&database, json!({})).await, ["Tom", "Mia", "Old"]);
    assert_eq!(names(&database, json!({"order_by": "-age"})).await, ["Mia", "Tom", "Old"]);
    assert_eq!(names(&database, json!({"order_by": ["tame", "name desc"]})).await, ["Mia", "Tom", "Old"]);
    assert_eq!(names(&database, json!({"limit": 2})).await, ["Tom", "Mia"]);
    assert_eq!(names(&database, json!({"filters": {"tame": true, "age": 3}})).await, ["Tom"]);
    assert_eq!(names(&database, json!({"filters": {"age": null}})).await, ["Old"]);
    assert_eq!(names(&database, json!({"filters": {"name": ["Mia", "Tom", "x"]}})).await, ["Tom", "Mia"]);
    assert_eq!(names(&database, json!({"filters": {"age": "3"}})).await, [""; 0], "text is no number");
    assert_eq!(
        result(&database, "database.count", json!({"model_name": "Cat", "filters": {"tame": true}})).await,
        json!(2)
    );
    let one = json!({"model_name": "Cat", "filters": {"name": "Mia"}, "single_result": true});
    assert_eq!(result(&database, "database.get", one).await, json!({"id": 2, "name": "Mia", "age": 12, "tame": false}));
    let none = json!({"model_name": "Cat", "filters": {"name": "x"}, "single_result": true});
    assert_eq!(result(&database, "database.get", none).await, json!(null));
}

#[tokio::test]
async fn saving_with_a_key_changes_the_row_or_adds_it() {
    let (_folder, database) = database();
    let save = |score: i64| json!({"model_name": "S", "data": {"score": score, "带\u{20}空格": "值"}, "key_field": "user", "key_value": "u1"});
    let added = result(&database, "database.save", save(1)).await;
    assert_eq!(added, json!({"id": 1, "score": 1, "带 空格": "值", "user": "u1"}));
    let changed = result(&database, "database.save", save(2)).await;
    assert_eq!((&changed["score"], &changed["id"]), (&json!(2), &json!(1)));
    assert_eq!(result(&database, "database.count", json!({"model_name": "S"})).await, json!(1));
    assert_eq!(names_of(&database, json!({"带 空格": "值"})).await, 1);
    let given = json!({"model_name": "S", "data": {"x": 1}, "key_field": "id", "key_value": 40});
    assert_eq!(result(&database, "database.save", given).await["id"], json!(40));
    let next = json!({"model_name": "S", "query_type": "create", "data": {"x": 2}});
    assert_eq!(result(&database, "database.query", next).await["id"], json!(41), "numbers are not given twice");
}

async fn names_of(database: &Database, filters: Value) -> usize {
    let rows = result(database, "database.get", json!({"model_name": "S", "filters": filters})).await;
    rows.as_array().unwrap().len()
}

#[tokio::test]
async fn queries_change_and_remove_what_the_filters_meet() {
    let (_folder, database) = database();
    cats(&database).await;
    let query = |kind: &str, more: Value| {
        let mut arguments =
            json!({"model_name": "Cat", "query_type": kind, "order_by": [], "limit": null, "single_result": false});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let update = query("update", json!({"data": {"age": null, "deep": {"a": [1]}}, "filters": {"tame": true}}));
    assert_eq!(result(&database, "database.query", update).await, json!(2));
    let tom = query("get", json!({"filters": {"name": "Tom"}, "single_result": true}));
    let expected = json!({"id": 1, "name": "Tom", "age": null, "tame": true, "deep": {"a": [1]}});
    assert_eq!(result(&database, "database.query", tom).await, expected);
    assert_eq!(result(&database, "database.query", query("count", json!({"filters": {}}))).await, json!(3));
    assert_eq!(
        result(&database, "database.query", query("delete", json!({"filters": {"name": "Tom"}}))).await,
        json!(1)
    );
    assert_eq!(result(&database, "database.delete", json!({"model_name": "Cat", "filters": {}})).await, json!(2));
    assert_eq!(names(&database, json!({})).await, [""; 0]);
}

#[tokio::test]
async fn changing_all_rows_has_to_be_said() {
    let (_folder, database) = database();
    let delete = json!({"model_name": "Cat", "filters": null});
    assert_eq!(
        refused(&database, "database.delete", delete).await.message,
        "`filters` is missing; `{}` means all rows"
    );
}

#[tokio::test]
async fn numbers_keep_their_digits_and_wide_rows_can_be_changed() {
    let (_folder, database) = database();
    let wide: String = (0..200).map(|n| format!(r#","f{n}":{n}"#)).collect();
    let arguments = format!(r#"{{"model_name":"N","data":{{"id":1,"n":12345678901234567890123{wide}}}}}"#);
    database.answer(&ask("database.save", &arguments)).await.unwrap();
    let wide: String = (0..200).map(|n| format!(r#","f{n}":-{n}"#)).collect();
    let arguments = format!(r#"{{"model_name":"N","filters":{{}},"data":{{"m":1{wide}}},"query_type":"update"}}"#);
    database.answer(&ask("database.query", &arguments)).await.unwrap();
    let answer = database.answer(&ask("database.get", r#"{"model_name":"N"}"#)).await.unwrap();
    assert!(answer.as_str().contains(r#""n":12345678901234567890123,"#), "{answer}");
    assert!(answer.as_str().contains(r#""f199":-199"#), "{answer}");
}

#[tokio::test]
async fn plugins_and_models_do_not_see_one_another() {
    let (_folder, database) = database();
    cats(&database).await;
    let other = Ask { plugin: "other".into(), ..ask("database.count", r#"{"model_name":"Cat"}"#) };
    assert_eq!(database.answer(&other).await.unwrap().as_str(), r#"{"success":true,"count":0}"#);
    assert_eq!(result(&database, "database.count", json!({"model_name": "Dog"})).await, json!(0));
}

#[tokio::test]
async fn names_and_values_are_never_sql() {
    let (_folder, database) = database();
    cats(&database).await;
    let evil = "x') OR 1=1; DROP TABLE rows; --";
    assert_eq!(
        result(&database, "database.count", json!({"model_name": evil, "filters": {evil: evil}})).await,
        json!(0)
    );
    assert_eq!(names(&database, json!({"order_by": [evil]})).await.len(), 3);
    for field in ["a\"b", "a\\b", "", "a\nb"] {
        let refused = refused(&database, "database.get", json!({"model_name": "Cat", "filters": {field: 1}})).await;
        assert_eq!(refused.code, "E_BAD_PAYLOAD", "{field:?}");
    }
    assert_eq!(names(&database, json!({})).await.len(), 3);
}

#[tokio::test]
async fn arguments_that_cannot_be_used_are_refused_with_a_sentence() {
    let (_folder, database) = database();
    let long = "x".repeat(1 << 20);
    for (name, arguments) in [
        ("database.get", json!({"model_name": ""})),
        ("database.get", json!({"model_name": "M", "filters": [1]})),
        ("database.get", json!({"model_name": "M", "filters": {"a": {"$gt": 1}}})),
        ("database.get", json!({"model_name": "M", "limit": -1})),
        ("database.query", json!({"model_name": "M", "query_type": "drop"})),
        ("database.save", json!({"model_name": "M", "data": 1})),
        ("database.save", json!({"model_name": "M", "data": {"x": long}})),
        ("database.save", json!({"model_name": "M", "data": {}, "key_value": [1]})),
        ("database.count", json!({})),
    ] {
        let refused = refused(&database, name, arguments).await;
        assert_eq!(refused.code, "E_BAD_PAYLOAD", "{}", refused.message);
    }
}

#[tokio::test]
async fn rows_outlive_the_daemon_and_usage_follows_them() {
    let (folder, database) = database();
    cats(&database).await;
    drop(database);
    let path = folder.path().join("data/plugins.sqlite3");
    let store = Store::open(&path).unwrap();
    assert_eq!(store.usage("demo").0, 3);
    assert!(store.usage("demo").1 > 0);
    drop(store);
    let database = Database::new(path.clone());
    assert_eq!(names(&database, json!({})).await, ["Tom", "Mia", "Old"]);
    result(&database, "database.delete", json!({"model_name": "Cat", "filters": {}})).await;
    drop(database);
    assert_eq!(Store::open(&path).unwrap().usage("demo"), (0, 0));
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_plugin_over_its_limit_keeps_what_it_had() {
    let (_folder, database) = database();
    let data = json!({"x": "y".repeat(1_000_000)});
    for _ in 0..67 {
        result(&database, "database.save", json!({"model_name": "Big", "data": data})).await;
    }
    let refused_row = refused(&database, "database.save", json!({"model_name": "Big", "data": data})).await;
    assert_eq!(refused_row.message, "a plugin may keep 100000 rows and 67108864 bytes");
    assert_eq!(result(&database, "database.count", json!({"model_name": "Big"})).await, json!(67));
    let too_much = refused(&database, "database.get", json!({"model_name": "Big"})).await;
    assert!(too_much.message.contains("smaller `limit`"), "{}", too_much.message);
    let other = Ask { plugin: "other".into(), ..ask("database.save", r#"{"model_name":"M","data":{}}"#) };
    database.answer(&other).await.unwrap();
}

#[tokio::test]
async fn a_request_that_was_given_up_frees_the_connection_for_the_next() {
    let (_folder, database) = database();
    for _ in 0..300 {
        result(&database, "database.save", json!({"model_name": "M", "data": {"x": "y".repeat(2000)}})).await;
    }
    // Sorted and filtered many times over, so that it runs for a while.
    let filters: serde_json::Map<String, Value> = (0..64).map(|n| (format!("f{n}"), json!(null))).collect();
    let slow = ask("database.get", &json!({"model_name": "M", "filters": filters}).to_string());
    for _ in 0..50 {
        let given_up = tokio::time::timeout(std::time::Duration::from_micros(300), database.answer(&slow)).await;
        drop(given_up);
        assert_eq!(result(&database, "database.count", json!({"model_name": "M"})).await, json!(300));
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_a_refusal() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let database = Database::new(folder.path().join("file/plugins.sqlite3"));
    let refused = refused(&database, "database.count", json!({"model_name": "M"})).await;
    assert_eq!(refused.code, "E_CAPABILITY_FAILED");
}
