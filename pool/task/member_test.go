package task

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestValidMember(t *testing.T) {
	for _, name := range []string{"a", "coder-1", "größe", "任务", "😀", "a.b/c@d", "human", "me", strings.Repeat("x", 63), strings.Repeat("😀", 63)} {
		for _, id := range []string{AgentID(name), ExternalID(name)} {
			if !ValidMember(id) || MemberName(id) != name {
				t.Errorf("%q is refused, or its name is %q", id, MemberName(id))
			}
		}
	}
	for _, name := range []string{"", " ", "a b", " a", "a ", "a\n", "a\x00", "a\x1b", "\xff", "a:b", ":", "\u200b", "\u202ea", "a\u00a0", family, strings.Repeat("x", 64)} {
		if ValidMember(AgentID(name)) || ValidMember(ExternalID(name)) || ValidMemberName(name) {
			t.Errorf("%q is taken for a name", name)
		}
	}
	for id, ok := range map[string]bool{
		Human: true, SystemPool: true, Anonymous: true, "": false, "Human": false, "human ": false, "system:x": false, "system:": false,
		"AGENT:a": false, "agent": false, "user:a": false, "agent:ext:a": false, "a": false,
	} {
		if ValidMember(id) != ok {
			t.Errorf("%q: %v", id, !ok)
		}
	}
	if !IsAgent("agent:a") || IsAgent("ext:a") || IsAgent(Human) {
		t.Error("IsAgent")
	}
	if MemberName(Human) != Human || MemberName(SystemPool) != SystemPool {
		t.Error("an id without a prefix is its own name")
	}
}

func TestResolveMember(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "me": "agent:a", " me\n": "agent:a", "you": Human, "human": Human, " human ": Human, "agent:b": "agent:b", " ext:b ": "ext:b",
		"ext:anonymous": Anonymous, "agent:me": "agent:me",
	} {
		if got, err := ResolveMember(name, "agent:a"); err != nil || got != want {
			t.Errorf("%q is %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"b", " b ", "Me", "HUMAN", "system", "anonymous"} {
		_, err := ResolveMember(name, "agent:a")
		var ambiguous *AmbiguousMemberError
		bare := strings.TrimSpace(name)
		if !errors.As(err, &ambiguous) || ambiguous.Name != name || !slices.Equal(ambiguous.IDs, []string{"agent:" + bare, "ext:" + bare}) {
			t.Errorf("%q: %v", name, err)
		} else if !strings.Contains(err.Error(), "agent:"+bare) || !strings.Contains(err.Error(), "ext:"+bare) {
			t.Errorf("%q: %v names not both", name, err)
		}
	}
	for _, name := range []string{" ", "a b", "agent:", "ext:a b", "agent:a:b", "user:a", "system:pool", " system:pool", "system:x", "\xff", "a\x00", strings.Repeat("x", 64)} {
		_, err := ResolveMember(name, "agent:a")
		var unknown *UnknownMemberError
		if !errors.As(err, &unknown) || unknown.Name != name || unknown.Why == "" {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, actor := range []string{"", SystemPool} {
		if got, err := ResolveMember("me", actor); err == nil {
			t.Errorf("me is %q for %q", got, actor)
		}
	}
}

func FuzzMember(f *testing.F) {
	for _, s := range []string{"", "me", "human", "agent:a", "ext:b c", "system:pool", "b", "\xff", "agent:" + family} {
		f.Add(s, "agent:a")
	}
	f.Fuzz(func(t *testing.T, name, actor string) {
		id, err := ResolveMember(name, actor)
		switch {
		case err != nil:
			if id != "" || len(err.Error()) > 1500 {
				t.Errorf("%q: %q with %v", name, id, err)
			}
		case id == "":
			if name != "" {
				t.Errorf("%q is nobody", name)
			}
		case !ValidMember(id) || id == SystemPool || strings.ContainsFunc(id, unicode.IsSpace):
			t.Errorf("%q is %q", name, id)
		default:
			if again, err := ResolveMember(id, actor); err != nil || again != id {
				t.Errorf("%q is %q, which is %q, %v", name, id, again, err)
			}
		}
		if ValidMember(name) && name != Human && name != SystemPool && AgentID(MemberName(name)) != name && ExternalID(MemberName(name)) != name {
			t.Errorf("%q is valid but not made of prefix and name", name)
		}
	})
}
