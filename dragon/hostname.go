// SPDX-License-Identifier: Apache-2.0

package dragon

import (
	"crypto/md5"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lni/dragonboat/v4/raftpb"
)

const (
	flagFile = "dragonboat.ds"
	// fixedDir stands in for the folder that Dragonboat names after the host.
	fixedDir = "node"
	flagHash = md5.Size / 2
)

// detachHostName makes the folder independent of the host's name, which Dragonboat binds it to in two ways: a member of its flag file, and
// the name of the folder below dir that holds everything. The node id in our own identity file is what identifies a folder.
func detachHostName(dir string) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("reading the host name: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, fixedDir), 0o700); err != nil {
		return err
	}
	if err := finishFirstOpening(dir); err != nil {
		return err
	}
	if err := clearFlag(filepath.Join(dir, flagFile)); err != nil {
		return err
	}
	if host != fixedDir {
		if err := linkHost(dir, host); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

// linkHost points the current host name at the fixed folder and removes the links of earlier names.
func linkHost(dir, host string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return os.Symlink(fixedDir, filepath.Join(dir, host))
}

// clearFlag empties the host name in the flag file; an empty one is not compared. A missing file is made by Dragonboat, with the name, and
// cleared at the next start.
func clearFlag(path string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !intact(b) {
		return fmt.Errorf("%s is damaged", path)
	}
	var status raftpb.RaftDataStatus
	if err := status.Unmarshal(b[flagHash:]); err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	if status.Hostname == "" {
		return nil
	}
	status.Hostname = ""
	body, err := status.Marshal()
	if err != nil {
		return err
	}
	return replace(path, append(flagSum(body), body...))
}

func flagSum(body []byte) []byte {
	sum := md5.Sum(body)
	return sum[flagHash:]
}

// replace writes a file so that a crash leaves the old or the new content.
func replace(path string, content []byte) error {
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
