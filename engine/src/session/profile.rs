//! SessionProfile: where a session takes place and for whom.

use serde::{Deserialize, Serialize};

use crate::call::{Locale, ToolExecutionContext};

/// Where a session takes place and for whom. Fills in what the context of a batch, or of a listing, leaves empty:
///
/// - the scene, whole, where the context names none (`stream_id`, `group_id` and `chat_id` are empty),
/// - the platform, the user and the locale each by itself; English, the default locale, counts as empty,
/// - the role, unless the context names another user than the profile: one user's role is nobody else's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionProfile {
    /// Chat stream id.
    pub stream_id: String,
    /// Group id; empty in a private chat.
    pub group_id: String,
    /// Whether the chat is a group.
    pub is_group_chat: bool,
    /// Platform, such as `qq`.
    pub platform: String,
    /// The user for whom the bot acts.
    pub user_id: String,
    /// Role, by which policy decides.
    pub role: String,
    /// Language of texts that the engine makes.
    pub locale: Locale,
}

// === impl SessionProfile ===

impl SessionProfile {
    /// The context with what it leaves empty; nothing where that changes nothing.
    pub(crate) fn fill(&self, context: &ToolExecutionContext) -> Option<ToolExecutionContext> {
        if *self == Self::default() {
            return None;
        }
        let lacks = |given: &str, own: &str| given.is_empty() && !own.is_empty();
        let has_no_scene = context.stream_id.is_empty() && context.group_id.is_empty() && context.chat_id.is_empty();
        let lacks_scene =
            has_no_scene && (self.is_group_chat || !self.stream_id.is_empty() || !self.group_id.is_empty());
        let is_same_user = self.user_id.is_empty() || context.user_id.is_empty() || context.user_id == self.user_id;
        let lacks_role = is_same_user && lacks(&context.role, &self.role);
        let lacks_platform = lacks(&context.platform, &self.platform);
        let lacks_user = lacks(&context.user_id, &self.user_id);
        let lacks_locale = context.locale == Locale::default() && self.locale != Locale::default();
        if !(lacks_scene || lacks_role || lacks_platform || lacks_user || lacks_locale) {
            return None;
        }
        let mut filled = context.clone();
        if lacks_scene {
            filled.stream_id.clone_from(&self.stream_id);
            filled.group_id.clone_from(&self.group_id);
            filled.is_group_chat = self.is_group_chat;
        }
        let texts = [
            (lacks_role, &mut filled.role, &self.role),
            (lacks_platform, &mut filled.platform, &self.platform),
            (lacks_user, &mut filled.user_id, &self.user_id),
        ];
        for (lacks, text, own) in texts {
            if lacks {
                text.clone_from(own);
            }
        }
        if lacks_locale {
            filled.locale = self.locale;
        }
        Some(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> SessionProfile {
        SessionProfile {
            stream_id: "stream".to_owned(),
            group_id: "group".to_owned(),
            is_group_chat: true,
            platform: "qq".to_owned(),
            user_id: "ann".to_owned(),
            role: "owner".to_owned(),
            locale: Locale::Zh,
        }
    }

    #[test]
    fn what_a_context_leaves_empty_comes_from_the_profile() {
        let filled = profile().fill(&ToolExecutionContext::default()).unwrap();
        assert_eq!((&*filled.stream_id, &*filled.group_id, filled.is_group_chat), ("stream", "group", true));
        assert_eq!((&*filled.platform, &*filled.user_id, &*filled.role), ("qq", "ann", "owner"));
        assert_eq!(filled.locale, Locale::Zh);
        assert_eq!(profile().fill(&filled), None);
        assert_eq!(SessionProfile::default().fill(&ToolExecutionContext::default()), None);
    }

    #[test]
    fn what_a_context_says_stays_and_its_scene_is_not_mixed_with_another() {
        let own = ToolExecutionContext {
            chat_id: "private".to_owned(),
            platform: "wx".to_owned(),
            role: "guest".to_owned(),
            ..ToolExecutionContext::default()
        };
        let filled = profile().fill(&own).unwrap();
        assert_eq!((&*filled.stream_id, &*filled.group_id, filled.is_group_chat), ("", "", false));
        assert_eq!((&*filled.platform, &*filled.role, &*filled.user_id), ("wx", "guest", "ann"));
    }

    #[test]
    fn the_role_of_one_user_is_not_given_to_another() {
        let of = |user: &str| ToolExecutionContext { user_id: user.to_owned(), ..ToolExecutionContext::default() };
        let role = |profile: &SessionProfile, user: &str| profile.fill(&of(user)).unwrap().role;
        assert_eq!((role(&profile(), "ann"), role(&profile(), "bob")), ("owner".to_owned(), String::new()));
        let of_everybody = SessionProfile { user_id: String::new(), role: "guest".to_owned(), ..profile() };
        assert_eq!(role(&of_everybody, "bob"), "guest");
    }
}
