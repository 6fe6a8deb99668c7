// Package identity lets a program that runs as root use the files of a machine with another user's rights.
//
// It is for file calls that are made for somebody. It starts nothing, and does not change the user of the
// program: no process of that user can end it or look into it.
package identity

import (
	"errors"
	"fmt"
	"math"
)

// User is an identity of Linux by numbers.
type User struct {
	UID, GID int
	Groups   []int // besides GID
}

// Check returns why commands cannot run as a user: root keeps every right, and no number may be one that the
// kernel takes for "leave it as it is".
func (u User) Check() error {
	if u.UID == 0 {
		return errors.New("user 0 is root, whose rights nothing takes away")
	}
	for _, id := range append([]int{u.UID, u.GID}, u.Groups...) {
		if id < 0 || int64(id) >= math.MaxUint32 {
			return fmt.Errorf("%d is no number of a user or a group", id)
		}
	}
	return nil
}
