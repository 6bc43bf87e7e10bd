use std::time::Duration;

use toolyard_providers::{McpEra, McpOAuth, McpTransport, McpWay, PinPolicy};

use super::*;

type Found = (Option<(usize, usize)>, String, String);

fn errors(text: &str) -> Vec<Found> {
    let refused = reader::read("test.toml", text).unwrap_err();
    refused.errors().iter().map(|e| (e.place, e.section.clone(), e.message.clone())).collect()
}

#[test]
fn the_built_in_configuration_can_be_read() {
    let config = Config::demo().unwrap();
    let names: Vec<&str> = config.providers.iter().map(|provider| provider.name.as_str()).collect();
    assert_eq!(names, ["builtin", "demo", "scripted"]);
}

#[test]
fn every_mistake_is_found_at_once_with_its_place_and_a_suggestion() {
    let text = r#"
[server]
lisen = "127.0.0.1:1"
max_bodybytes = 3

[limts]

[[providers]]
name = "a"
kind = "scriptd"

[[providers]]
name = "b"
kind = "mcp"
comand = "x"
drain_ms = "soon"
"#;
    let found = errors(text);
    let places: Vec<_> = found.iter().map(|(place, _, _)| place.unwrap()).collect();
    assert!(places.starts_with(&[(3, 1), (4, 1), (6, 2), (10, 8), (15, 1), (16, 12)]), "{found:#?}");
    assert!(found[0].2.contains("did you mean `listen`"), "{}", found[0].2);
    assert!(found[2].2.contains("did you mean `limits`"), "{}", found[2].2);
    assert!(found[3].2.contains("did you mean `scripted`"), "{}", found[3].2);
    assert_eq!(found[4].1, "providers/1 (b)");
}

#[test]
fn an_unknown_key_of_a_provider_is_answered_with_all_that_are_known() {
    let provider = |lines: &str| errors(&format!("[[providers]]\nname = \"p\"\n{lines}\n"));
    let found = provider("kind = \"maibot\"\npath = \"x\"\ncolour = 1\ndrian_ms = 1\nhealth_intervall_ms = 1");
    assert_eq!(found.len(), 3, "{found:#?}");
    for key in ["path", "folder", "host_version", "health_interval_ms", "python", "drain_ms", "breaker", "required"] {
        assert!(found[0].2.contains(&format!("`{key}`")), "{key}: {}", found[0].2);
    }
    assert!(found[1].2.contains("did you mean `drain_ms`"), "{}", found[1].2);
    assert!(found[2].2.contains("did you mean `health_interval_ms`"), "{}", found[2].2);
    let found = provider("kind = \"demo\"\ncolour = 1");
    assert!(found[0].2.contains("`tool_timeout_ms`") && !found[0].2.contains("`python`"), "{}", found[0].2);
    let found = provider("kind = \"demo\"\nbreaker = { colour = 1 }");
    assert!(found[0].2.contains("`open_ms`") && !found[0].2.contains("`drain_ms`"), "{}", found[0].2);
}

#[test]
fn keys_of_a_tool_are_checked_too() {
    let text = "[[providers]]\nname = \"s\"\nkind = \"scripted\"\n[[providers.tools]]\nname = \"t\"\nlatncy_ms = 1\n";
    let found = errors(text);
    assert_eq!(found[0].0, Some((6, 1)));
    assert!(found[0].2.contains("latency_ms"), "{}", found[0].2);
}

#[test]
fn keys_of_a_plugin_are_checked_and_it_gets_the_time_that_its_manifest_may_ask_for() {
    let found = errors("[[providers]]\nname = \"p\"\nkind = \"xbot\"\npath = \"p\"\ncomand = \"x\"\n");
    assert!(found[0].2.contains("did you mean `command`"), "{}", found[0].2);
    assert!(errors("[[providers]]\nname = \"p\"\nkind = \"xbot\"\n")[0].2.contains("missing key `path`"));
    let read = |extra: &str| {
        let text = format!("[[providers]]\nname = \"p\"\nkind = \"xbot\"\npath = \"p\"\n{extra}");
        reader::read("test.toml", &text).unwrap().providers[0].settings()
    };
    assert!(read("").start_timeout > Duration::from_secs(300));
    assert_eq!(read("start_timeout_ms = 10").start_timeout, Duration::from_millis(10));
    assert_eq!(read("deactivate_grace_ms = 1000").close_timeout, Duration::from_secs(6));
}

#[test]
fn syntax_errors_and_double_names_say_where() {
    assert_eq!(errors("[server\n")[0].0.unwrap().0, 1);
    let twice = "[[providers]]\nname = \"a\"\nkind = \"demo\"\n[[providers]]\nname = \"a\"\nkind = \"demo\"\n";
    assert_eq!(errors(twice)[0].0, Some((4, 1)));
}

#[test]
fn addresses_that_can_be_reached_from_outside_are_refused() {
    let found = errors("[server]\nlisten = \"0.0.0.0:7700\"\n");
    assert!(found[0].2.contains("loopback"), "{}", found[0].2);
}

fn backend(section: &str) -> BackendConfig {
    reader::read("test.toml", section).unwrap().backend
}

#[test]
fn a_backend_is_a_table_or_only_its_kind() {
    assert!(matches!(backend(""), BackendConfig::None));
    assert!(matches!(backend("backend = \"simulate\"\n"), BackendConfig::Simulate(_)));
    let BackendConfig::Events(events) = backend("[backend]\nkind = \"events\"\nconnect_grace_ms = 1500\n") else {
        panic!("not events")
    };
    assert_eq!((events.max_in_flight.get(), events.connect_grace().as_millis()), (256, 1500));
    let http = "[backend]\nkind = \"http\"\nurl = \"http://127.0.0.1:1/x?token=abc\"\nsecret = { env = \"S\" }\n";
    let BackendConfig::Http(http) = backend(http) else { panic!("not http") };
    assert_eq!((http.max_in_flight.get(), http.max_response_bytes), (256, 4 << 20));
    assert!(!format!("{http:?}").contains("abc"), "{http:?}");
}

#[test]
fn mistakes_in_a_backend_are_found_with_their_places() {
    let found = errors("[backend]\nkind = \"http\"\nurll = \"http://a/\"\nsercet = { env = \"A\" }\n");
    assert_eq!((found[0].0, found[1].0), (Some((3, 1)), Some((4, 1))), "{found:#?}");
    assert!(found[0].2.contains("did you mean `url`") && found[1].2.contains("did you mean `secret`"), "{found:#?}");
    let mut wrong = Vec::new();
    for (section, place, message) in [
        ("kind = \"htpp\"", (2, 8), "did you mean `http`"),
        ("url = \"http://a/\"", (1, 1), "missing key `kind`"),
        ("kind = \"events\"\nurl = \"http://a/\"", (3, 1), "unknown key `url`"),
        ("kind = \"events\"\nconnect_grace_ms = 600001", (3, 20), "connect_grace_ms: must be 0 to 600000"),
        ("kind = \"events\"\nmax_in_flight = 0", (3, 17), "max_in_flight: must be 1 to 1048576, not 0"),
        ("kind = \"http\"\nsecret = { env = \"A\" }", (1, 1), "missing key `url`"),
        ("kind = \"http\"\nurl = \"http://a/\"\nsecret = { env = \"A\", file = \"b\" }", (4, 10), "{ env = "),
        ("kind = \"http\"\nurl = \"http://a/\"\nsecret = \"pw\"", (4, 10), "never written here"),
        ("kind = \"http\"\nurl = \"ftp://a/\"\nsecret = { env = \"A\" }", (3, 7), "http://"),
        ("kind = \"http\"\nurl = \"http://me:pw@a/\"\nsecret = { env = \"A\" }", (3, 7), "no password"),
    ] {
        let found = errors(&format!("[backend]\n{section}\n"));
        let is_right = found[0].0 == Some(place) && found[0].1 == "backend" && found[0].2.contains(message);
        if !is_right || found[0].2.contains("pw") {
            wrong.push((section, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(errors("backend = \"events!\"\n")[0].2.contains("did you mean `events`"));
    assert!(errors("[backnd]\n")[0].2.contains("did you mean `backend`"));
}

#[test]
fn what_a_plugin_document_may_reach_is_checked_with_its_place() {
    for (line, place, said) in [
        ("allow_private = [\"10.0.0.0/99\"]", (5, 17), "10.0.0.0/99"),
        ("trustd = true", (5, 1), "did you mean `trusted`"),
    ] {
        let found = errors(&format!("[[providers]]\nname = \"c\"\nkind = \"http\"\nfile = \"c.toml\"\n{line}\n"));
        assert_eq!(found[0].0, Some(place), "{found:#?}");
        assert!(found[0].2.contains(said), "{}", found[0].2);
    }
}

#[test]
fn a_plugin_document_is_found_beside_the_configuration() {
    let text = "[[providers]]\nname = \"c\"\nkind = \"http\"\nfile = \"plugins/c.toml\"\n";
    let mut config = reader::read("test.toml", text).unwrap();
    config.providers[0].in_folder(Path::new("/etc/toolyard"));
    let ProviderKindConfig::Http(http) = &config.providers[0].kind else { panic!("another kind") };
    assert_eq!(http.file, Path::new("/etc/toolyard/plugins/c.toml"));
    assert_eq!(config.providers[0].settings().name_form, toolyard::NameForm::Qualified);
}

#[test]
fn a_folder_of_plugins_is_a_provider_for_each() {
    let folder = tempfile::tempdir().unwrap();
    for (plugin, file) in [
        ("weather", "_manifest.json"),
        ("dice", "_manifest.json"),
        (".hidden", "_manifest.json"),
        ("data", "_manifest.json"),
        ("notes", "plugin.toml"),
    ] {
        std::fs::create_dir(folder.path().join(plugin)).unwrap();
        std::fs::write(folder.path().join(plugin).join(file), "{}").unwrap();
    }
    let read = |providers: &str| {
        let path = folder.path().join("toolyard.toml");
        std::fs::write(&path, providers).unwrap();
        Config::read(&path)
    };
    let many = "[[providers]]\nname = \"all\"\nkind = \"maibot\"\nfolder = \".\"\ndata_dir = \"/var/lib/x\"\n";
    let config = read(many).unwrap();
    let names: Vec<&str> = config.providers.iter().map(|provider| provider.name.as_str()).collect();
    assert_eq!(names, ["dice", "weather"]);
    let ProviderKindConfig::MaiBot(dice, runner) = &config.providers[0].kind else { panic!("another kind") };
    assert_eq!((&dice.path, &runner.data_dir), (&folder.path().join("./dice"), &Some("/var/lib/x/dice".into())));
    for (text, message) in [
        (format!("{many}path = \"x\"\n"), "not both"),
        (many.replace("\".\"", "\"nowhere\""), "nowhere"),
        (format!("{many}[[providers]]\nname = \"dice\"\nkind = \"demo\"\n"), "there is a provider `dice` already"),
        ("[[providers]]\nname = \"d\"\nkind = \"demo\"\nfolder = \"x\"\n".to_owned(), "unknown key `folder`"),
    ] {
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn paths_of_a_plugin_are_relative_to_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolyard.toml");
    let text = "[plugins]\ndata_dir = \"data\"\n[[providers]]\nname = \"a\"\nkind = \"maibot\"\npath = \"a\"\n";
    for (python, read) in [("venv/bin/python", folder.path().join("venv/bin/python")), ("python3", "python3".into())] {
        std::fs::write(&path, format!("{text}python = \"{python}\"\ndata_dir = \"own\"\n")).unwrap();
        let config = Config::read(&path).unwrap();
        assert_eq!(config.plugins.data_dir, Some(folder.path().join("data")));
        let ProviderKindConfig::MaiBot(plugin, runner) = &config.providers[0].kind else { panic!("another kind") };
        assert_eq!((&plugin.path, Path::new(&runner.python)), (&folder.path().join("a"), read.as_path()));
        assert_eq!(runner.data_dir, Some(folder.path().join("own")));
    }
    std::fs::write(&path, format!("{text}log_level = \"loud\"\n")).unwrap();
    assert!(Config::read(&path).unwrap_err().to_string().contains("unknown value `loud`"));
}

#[test]
fn an_mcp_server_is_a_child_or_a_service_with_the_same_options() {
    let text = "[[providers]]\nname = \"a\"\nkind = \"mcp\"\ncommand = \"x\"\nera = \"legacy\"\npins = \"block\"\n\
                [providers.env]\nPLAIN = \"1\"\nTOKEN = { env = \"T\" }\n\
                [[providers]]\nname = \"b\"\nkind = \"mcp\"\nurl = \"https://mcp.example.com/mcp\"\ntransport = \"http\"\n\
                allow_private = [\"10.0.0.0/8\"]\nforward_headers = [\"X-Request-Id\"]\nmax_sessions = 3\n\
                oauth = { client_id = \"me\", client_secret = { file = \"secret\" } }\n\
                [providers.headers]\nX-Key = { env = \"KEY\", prefix = \"Bearer \" }\n";
    let mut config = Config::parse(text);
    let ProviderKindConfig::Mcp(child) = &config.providers[0].kind else { panic!("another kind") };
    assert!(
        matches!(&child.transport, McpTransport::Stdio(command) if command.command == "x" && command.env.is_empty())
    );
    assert_eq!((child.env.len(), child.options.era, child.options.pins), (2, McpEra::Legacy, PinPolicy::Block));
    config.providers[1].in_folder(Path::new("/etc/toolyard"));
    let ProviderKindConfig::Mcp(service) = &config.providers[1].kind else { panic!("another kind") };
    let McpTransport::Http(http) = &service.transport else { panic!("no service") };
    assert_eq!((http.way, http.headers.len(), http.allow_private.len()), (McpWay::Http, 1, 1));
    assert!(matches!(&http.oauth, Some(McpOAuth::ClientCredentials(client)) if client.id == "me"));
    assert_eq!((service.options.max_sessions.get(), service.options.forward_headers.len()), (3, 1));
    let files = Config::parse("[mcp]\nservers_file = \"s.json\"\npins_file = \"p.json\"\n").mcp;
    assert_eq!((files.servers_file, files.pins_file), (Some("s.json".into()), Some("p.json".into())));
}

#[test]
fn mistakes_in_an_mcp_server_are_found_with_their_places() {
    let url = "url = \"https://a/\"";
    let mut wrong = Vec::new();
    for (lines, place, said) in [
        ("command = \"x\"\nurl = \"https://a/\"".to_owned(), (1, 1), "not both"),
        ("args = []".to_owned(), (1, 1), "`command` for a child process or `url` for a service: one of both"),
        ("headers = { a = \"b\" }".to_owned(), (1, 1), "one of both is needed"),
        ("comand = \"x\"".to_owned(), (4, 1), "did you mean `command`?"),
        ("command = \"x\"\nroots = [\"/tmp\"]".to_owned(), (5, 10), "expected a folder such as { uri = "),
        ("url = \"ftp://a/\"".to_owned(), (4, 7), "must start with http"),
        ("url = \"https://me:pw@a/\"".to_owned(), (4, 7), "no user and no password"),
        (format!("{url}\nheadrs = {{}}"), (5, 1), "did you mean `headers`"),
        (format!("{url}\nera = \"new\""), (5, 7), "unknown value `new`"),
        (format!("{url}\nmax_message_bytes = 7"), (5, 21), "max_message_bytes: must be 1024 to"),
        (format!("{url}\nsession_idle_ms = 0"), (5, 19), "session_idle_ms: must be 1 to"),
        (format!("{url}\nforward_headers = [\"Authorization\"]"), (5, 19), "`authorization` is never handed on"),
        (format!("{url}\nallow_private = 7"), (5, 17), "true, false or a list"),
        (format!("{url}\noauth = {{ client_id = \"a\" }}"), (5, 9), "needs a `client_secret` or a `refresh_token`"),
        (format!("{url}\noauth = {{ token = \"s3cret-pw\", client_id = \"a\" }}"), (5, 9), "not both"),
        (format!("{url}\nheaders = {{ Host = \"a\" }}"), (5, 13), "set by Toolyard"),
    ] {
        let found = errors(&format!("[[providers]]\nname = \"m\"\nkind = \"mcp\"\n{lines}\n"));
        let is_right = found[0].0 == Some(place) && found[0].1 == "providers/0 (m)" && found[0].2.contains(said);
        if !is_right || found[0].2.contains("pw@") || found[0].2.contains("s3cret") {
            wrong.push((lines, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(errors("[mcp]\npinsfile = \"x\"\n")[0].2.contains("unknown key"));
}
