//! Sockets, noise, and what is measured.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use super::*;

#[tokio::test]
async fn a_socket_as_standard_input_carries_both_directions() {
    let spawner = spawner();
    let script = "read line; echo \"got $line\" >&0; read line; echo \"and $line\" >&0; echo noise";
    let (child, socket) = ChildProcess::start_with_socket(&spawner, &shell(script)).await.unwrap();
    let (reader, mut writer) = socket.into_split();
    let mut lines = BufReader::new(reader).lines();
    writer.write_all(b"one\n").await.unwrap();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "got one");
    writer.write_all("二\n".as_bytes()).await.unwrap();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "and 二");
    assert_eq!(lines.next_line().await.unwrap(), None, "the child's end is the end of the socket");
    assert_eq!(end_of(&child).await, "its process ended with exit status: 0; it last wrote: noise");
}

#[tokio::test]
async fn the_host_leaving_is_the_end_of_the_childs_input() {
    let spawner = spawner();
    let (child, socket) =
        ChildProcess::start_with_socket(&spawner, &shell("cat >&2; echo over >&2; exit 3")).await.unwrap();
    drop(socket);
    assert_eq!(end_of(&child).await, "its process ended with exit status: 3; it last wrote: over");
}

#[tokio::test]
async fn endless_noise_on_both_outputs_holds_nobody_up_and_is_not_kept() {
    let script = "head -c 20971520 /dev/zero | tr '\\0' x; head -c 20971520 /dev/zero | tr '\\0' '\\n' >&2; \
                  printf '\\326\\320\\316\\304 done' >&2; echo heard >&0; cat >&2";
    let spawner = spawner();
    let (child, mut socket) = ChildProcess::start_with_socket(&spawner, &shell(script)).await.unwrap();
    let mut heard = [0; 6];
    in_time(socket.read_exact(&mut heard)).await.expect("the noise blocked it");
    assert_eq!(&heard, b"heard\n");
    drop(socket);
    let end = end_of(&child).await;
    assert!(end.ends_with(" done") && end.len() < 600, "{end}");
}

#[tokio::test]
async fn a_childs_use_of_the_machine_is_known_while_it_lives() {
    let spawner = spawner();
    let script = "while [ $((i+=1)) -lt 200000 ]; do :; done; echo ready >&0; cat";
    let (child, mut socket) = ChildProcess::start_with_socket(&spawner, &shell(script)).await.unwrap();
    let mut ready = [0; 6];
    socket.read_exact(&mut ready).await.unwrap();
    let usage = child.usage().unwrap();
    assert!(usage.rss_bytes > 100 << 10 && usage.rss_bytes < 100 << 20 && usage.threads == 1, "{usage:?}");
    assert!(usage.cpu_seconds > 0.01, "{usage:?}");
    let pid = child.pid().unwrap();
    assert!(std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap().starts_with("sh\0-c"));
    child.kill_now();
    end_of(&child).await;
    assert_eq!(child.usage(), None);
}
