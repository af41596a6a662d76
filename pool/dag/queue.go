package dag

// queue is a binary heap. The first item is one that no other is before. What
// comes first among equals depends only on the calls made.
type queue[T any] struct {
	before func(a, b T) bool
	items  []T
}

func (q *queue[T]) len() int { return len(q.items) }

func (q *queue[T]) first() T { return q.items[0] }

func (q *queue[T]) push(item T) {
	q.items = append(q.items, item)
	i := len(q.items) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q.before(q.items[i], q.items[up]) {
			break
		}
		q.items[i], q.items[up] = q.items[up], q.items[i]
		i = up
	}
}

func (q *queue[T]) pop() T {
	top, end := q.items[0], len(q.items)-1
	q.items[0] = q.items[end]
	clear(q.items[end:])
	q.items = q.items[:end]
	i := 0
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < end; child++ {
			if q.before(q.items[child], q.items[least]) {
				least = child
			}
		}
		if least == i {
			return top
		}
		q.items[i], q.items[least] = q.items[least], q.items[i]
		i = least
	}
}
