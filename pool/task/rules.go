package task

// EditRule says who may edit title and body, and reopen.
type EditRule uint8

// The edit rules. The zero value is the default.
const (
	// EditByAnyone: everybody (llm-chat-task).
	EditByAnyone EditRule = iota
	// EditByFiler: the filer and the operator (den).
	EditByFiler

	editRuleCount
)

var editRuleNames = [editRuleCount]string{"anyone", "filer"}

// String returns "anyone" or "filer".
func (r EditRule) String() string { return nameOf(editRuleNames[:], uint8(r), "edit_rule") }

// ParseEditRule reads the name String writes; false when there is none such.
func ParseEditRule(name string) (EditRule, bool) {
	i, ok := indexOf(editRuleNames[:], name)
	return EditRule(i), ok
}

// ReviewDefault says who reviews a task for which nothing is said.
type ReviewDefault uint8

// The review defaults. The zero value is the default.
const (
	// ReviewByNobody: no review (llm-chat-task).
	ReviewByNobody ReviewDefault = iota
	// ReviewByFiler: whoever created the task (den).
	ReviewByFiler

	reviewDefaultCount
)

var reviewDefaultNames = [reviewDefaultCount]string{"none", "filer"}

// String returns "none" or "filer".
func (r ReviewDefault) String() string {
	return nameOf(reviewDefaultNames[:], uint8(r), "review_default")
}

// ParseReviewDefault reads the name String writes; false when there is none such.
func ParseReviewDefault(name string) (ReviewDefault, bool) {
	i, ok := indexOf(reviewDefaultNames[:], name)
	return ReviewDefault(i), ok
}

// Rules are the settings of a pool that decide who may do what.
type Rules struct {
	EditRule      EditRule
	ReviewDefault ReviewDefault
}
