//! Scenes: LenBot's name of a chat, `platform:group:id` or `platform:private:id`.

use toolyard::ToolAvailabilityContext;

/// The scene of a chat; empty where the context names none.
///
/// A stream, session or group id that is a scene already is taken as it is. `platform` stands for the context's own.
pub(super) fn scene_of(context: &ToolAvailabilityContext<'_>, platform: Option<&str>) -> String {
    let named = [context.stream_id, context.session_id, context.group_id].into_iter().find(|id| is_scene(id));
    if let Some(scene) = named {
        return scene.to_owned();
    }
    let platform = platform.unwrap_or(context.platform);
    if !context.group_id.is_empty() {
        return format!("{platform}:group:{}", context.group_id);
    }
    if context.user_id.is_empty() {
        return String::new();
    }
    // An account may be written with its platform in front.
    let account = context.user_id.rsplit(':').next().unwrap_or_default();
    format!("{platform}:private:{account}")
}

fn is_scene(id: &str) -> bool {
    let mut parts = id.splitn(3, ':');
    let (platform, kind, target) = (parts.next(), parts.next(), parts.next());
    platform.is_some_and(|platform| !platform.is_empty())
        && kind.is_some_and(|kind| matches!(kind, "group" | "private"))
        && target.is_some_and(|target| !target.is_empty())
}

#[cfg(test)]
mod tests {
    use toolyard::ToolExecutionContext;

    use super::*;

    fn scene(stream: &str, session: &str, group: &str, user: &str, platform: Option<&str>) -> String {
        let context = ToolExecutionContext {
            stream_id: stream.to_owned(),
            session_id: session.to_owned(),
            group_id: group.to_owned(),
            user_id: user.to_owned(),
            platform: "qq".to_owned(),
            ..ToolExecutionContext::default()
        };
        scene_of(&context.availability(), platform)
    }

    #[test]
    fn a_scene_is_taken_as_it_is_and_else_made_of_its_parts() {
        assert_eq!(scene("onebot:group:1", "s", "2", "3", None), "onebot:group:1");
        assert_eq!(scene("abc", "onebot:private:7", "2", "3", None), "onebot:private:7");
        assert_eq!(scene("abc", "s", "2", "3", None), "qq:group:2");
        assert_eq!(scene("abc", "s", "2", "3", Some("onebot")), "onebot:group:2");
        assert_eq!(scene("abc", "s", "", "qq:3", Some("onebot")), "onebot:private:3");
        assert_eq!(scene("abc", "s", "", "", None), "");
    }
}
