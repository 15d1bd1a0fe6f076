// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/nervix-go/nervix/plugins/sdk"
)

// beginning is the file that a followed source goes on with, and where.
type beginning struct {
	file *os.File
	id   identity
	at   place
	// anew says that this is another content than that of the position given; why, if nobody could expect it.
	anew bool
	why  string
}

// attempts is how often the search is begun again because files were renamed meanwhile.
const attempts = 20

// resume finds the file to go on with. The one that was read comes first, under whatever name it has in its folder now. When nothing is left in it
// and it is complete its successor follows, the next younger of the files that rotation renamed, in the end the one the path names.
func (d folder) resume(r sdk.SourceRequest, seen *endings, path string) (b beginning, err error) {
	s := search{folder: d, path: path, request: r}
	known, ok := parseIdentity(r.Identity)
	at, placed := parsePlace(r.Position)
	switch {
	case len(r.Identity) == 0:
		return s.current("", false)
	case !ok:
		return s.current(foreignIdentity, true)
	case !placed && len(r.Position) > 0:
		return s.current(foreignPosition, true)
	}
	s.id, s.at = known, at
	s.ended, s.endKnown = seen.of(path, known)
	for range attempts {
		b, err = s.run()
		if err == nil {
			return b, nil
		}
		_ = closed(b.file)
		if !errors.Is(err, errChanging) {
			break
		}
	}
	if s.endKnown && s.ended.shorter {
		seen.tell(path, s.ended) // for the next attempt
	}
	return beginning{}, err
}

// search is one search for the file to go on with after a position.
type search struct {
	folder
	path     string
	request  sdk.SourceRequest
	id       identity
	at       place
	ended    ending
	endKnown bool
}

func (s *search) run() (beginning, error) {
	all, err := s.snapshot()
	if err != nil {
		return beginning{}, err
	}
	f, which, same, err := s.find(all)
	if err != nil {
		return beginning{}, err
	}
	if f == nil {
		why := ""
		if !s.endKnown || s.ended.shorter || s.at.end < s.ended.last {
			why = anotherFile + ", and the one that was read is gone"
		}
		return s.after(all, s.id, why)
	}
	size := which.info.Size()
	if !same || s.at.end > size || s.endKnown && s.ended.shorter {
		return s.rewritten(all, f, which)
	}
	if which.current {
		return s.goOn(f, size)
	}
	if left, err := anythingLeft(f, s.at); err != nil || left {
		return s.goOnOr(f, size, err)
	}
	if complete := s.endKnown && s.ended.size == size; !complete && !unwritten(f) {
		return s.goOn(f, size)
	}
	b, err := s.after(all, s.id, "")
	if errors.Is(err, fs.ErrNotExist) { // the path is missing: it is waited for at the end of this file
		return s.goOn(f, size)
	}
	return b, errors.Join(err, f.Close())
}

// find opens the file that was read; same says that it still begins as it did. f is nil when the folder holds it no more.
func (s *search) find(all []beside) (f *os.File, which beside, same bool, err error) {
	for _, one := range all {
		if dev, ino := numbers(one.info); dev != s.id.dev || ino != s.id.ino {
			continue
		}
		f, info, err := s.look(one)
		if err != nil {
			return nil, one, false, s.named(one.name, err)
		}
		one.info = info
		if now, err := identityOf(f, 0); err != nil || !now.inode(s.id) {
			return nil, one, false, errors.Join(err, f.Close()) // a younger file with the inode of the old one
		}
		same, err := s.id.of(f, info.Size())
		return f, one, same, err
	}
	return nil, which, false, nil
}

// goOn reads on in the file that was read. Its identity may cover more bytes now.
func (s *search) goOn(f *os.File, size int64) (beginning, error) {
	id, err := identityOf(f, max(min(size, hashedBytes), int64(s.id.hashed)))
	return beginning{file: f, id: id, at: s.at}, err
}

func (s *search) goOnOr(f *os.File, size int64, err error) (beginning, error) {
	if err != nil {
		return beginning{}, errors.Join(err, f.Close())
	}
	return s.goOn(f, size)
}

// rewritten begins anew in a file that was cut or overwritten, unless rotation left a copy that holds the rest of what it held before.
func (s *search) rewritten(all []beside, f *os.File, which beside) (beginning, error) {
	why := "the file was cut or written anew"
	if s.at.end > which.info.Size() {
		why = shorterThan(which.info.Size(), s.at)
	}
	copied, id, err := s.copied(all, which)
	if err != nil {
		return beginning{}, errors.Join(err, f.Close())
	}
	if copied == nil {
		return s.start(f, why, true)
	}
	_ = f.Close()
	left, err := anythingLeft(copied, s.at)
	if err != nil || left {
		return beginning{file: copied, id: id, at: s.at}, err
	}
	b, err := s.after(all, id, "")
	return b, errors.Join(err, copied.Close())
}

// copied finds the copy that was made of a file before it was cut (copytruncate): it begins as the file did and has a line end where reading
// stopped. Of several the youngest.
func (s *search) copied(all []beside, of beside) (best *os.File, id identity, err error) {
	for _, one := range all {
		if !s.rotated(one.name) || os.SameFile(one.info, of.info) || one.info.Size() < s.at.end {
			continue
		}
		f, info, err := s.look(one)
		if errors.Is(err, errChanging) {
			return nil, id, errors.Join(err, closed(best))
		} else if err != nil {
			continue
		}
		mine, err := identityOf(f, min(info.Size(), hashedBytes))
		if err != nil || !s.looksCopied(f, mine.born) || best != nil && mine.born < id.born {
			_ = f.Close()
			continue
		}
		_ = closed(best)
		best, id = f, mine
	}
	return best, id, nil
}

func closed(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// clockGrain is how far the clock of a file system may lie behind that of the process.
const clockGrain = 20 * time.Millisecond

func (s *search) looksCopied(f *os.File, born int64) bool {
	if s.at.end > 0 {
		var b [1]byte
		if _, err := f.ReadAt(b[:], s.at.end-1); err != nil || b[0] != newline {
			return false
		}
	}
	if s.endKnown && len(s.ended.head) > 0 {
		return startsLike(f, s.ended.head) && (born == 0 || born >= s.ended.since-int64(clockGrain))
	}
	if s.id.hashed == 0 {
		return false
	}
	head, err := headOf(f, int64(s.id.hashed))
	return err == nil && hashOf(head) == s.id.sum
}

// after begins the successor of a file.
func (s *search) after(all []beside, id identity, why string) (beginning, error) {
	younger, err := s.younger(all, id)
	if err != nil {
		return beginning{}, err
	}
	for n, one := range younger {
		keep, err := one.current, error(nil)
		if !keep {
			keep, err = one.worthReading()
		}
		if err != nil || keep {
			closeAll(younger[n+1:])
			if err != nil {
				return beginning{}, errors.Join(err, one.f.Close())
			}
			return s.start(one.f, why, true)
		}
		_ = one.f.Close()
	}
	return s.current(why, true)
}

// opened is an open file of a snapshot.
type opened struct {
	beside
	f    *os.File
	born int64
}

func closeAll(files []opened) {
	for _, o := range files {
		_ = o.f.Close()
	}
}

// younger opens the files that had the path after the one with an identity, the oldest first. The clock of a file system stands still for some
// milliseconds; files of one such moment are in the order of their names. One that cannot be told from an older one counts as younger.
func (s *search) younger(all []beside, than identity) (out []opened, err error) {
	if than.born == 0 {
		return nil, nil
	}
	mine := ""
	for _, one := range all {
		if !one.current && !s.rotated(one.name) {
			continue
		}
		f, info, err := s.look(one)
		if err != nil && (one.current || errors.Is(err, errChanging)) {
			closeAll(out)
			return nil, s.named(one.name, err)
		} else if err != nil {
			s.request.Environment.Log.Warn("a rotated file cannot be read and is left out", "file", one.name, "error", err)
			continue
		}
		one.info = info
		o := opened{one, f, birth(f)}
		if dev, ino := numbers(info); (identity{dev: dev, ino: ino, born: o.born}).inode(than) {
			mine = one.name
			_ = f.Close()
			continue
		}
		out = append(out, o)
	}
	out = slices.DeleteFunc(out, func(o opened) bool {
		if o.born > than.born || o.born == than.born && (mine == "" || s.inOrder(mine, o.name) < 0) {
			return false
		}
		_ = o.f.Close()
		return true
	})
	slices.SortFunc(out, func(a, b opened) int { return cmp.Or(cmp.Compare(a.born, b.born), s.inOrder(a.name, b.name)) })
	return out, nil
}

// worthReading says whether a renamed file may hold lines: it is not blank for good.
func (o opened) worthReading() (bool, error) {
	left, err := anythingLeft(o.f, place{})
	return left || !unwritten(o.f), err
}

// current begins the file that the path names.
func (s *search) current(why string, anew bool) (beginning, error) {
	f, _, err := s.open(s.name)
	if err != nil {
		return beginning{}, err
	}
	return s.start(f, why, anew)
}

func (s *search) start(f *os.File, why string, anew bool) (beginning, error) {
	info, err := f.Stat()
	if err != nil {
		return beginning{}, errors.Join(err, f.Close())
	}
	id, err := identityOf(f, min(info.Size(), hashedBytes))
	return beginning{file: f, id: id, anew: anew, why: why}, err
}

func (s *search) named(name string, err error) error {
	if name == s.name || errors.Is(err, errChanging) {
		return err
	}
	return fmt.Errorf("%s, which it was renamed to: %w", name, err)
}

// anythingLeft says whether lines follow a position; a last one without its end counts.
func anythingLeft(f io.ReaderAt, at place) (bool, error) {
	at, err := pastItsEnd(f, at)
	if err != nil {
		return false, err
	}
	for l := newLines(f, 0, at); ; {
		one, err := l.next()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil || one.tooLong {
			return err == nil, err
		}
	}
}
