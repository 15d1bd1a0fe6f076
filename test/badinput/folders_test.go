// SPDX-License-Identifier: Apache-2.0

package badinput

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestFoldersThatCannotBeUsed starts nodes on folders that are not theirs or not whole: exit 3, the path, the reason, and nothing changed.
func TestFoldersThatCannotBeUsed(t *testing.T) {
	cases := []struct {
		name   string
		damage func(t *testing.T, data string)
		names  []string
	}{
		{"identity truncated", func(t *testing.T, data string) { cut(t, data+"/identity", 60) }, []string{"identity", "damaged"}},
		{"identity empty", func(t *testing.T, data string) { cut(t, data+"/identity", 0) }, []string{"identity"}},
		{"identity missing", func(t *testing.T, data string) { remove(t, data+"/identity") }, []string{"identity", "missing"}},
		{"identity altered", func(t *testing.T, data string) { alter(t, data+"/identity", "node 1", "node 2") }, []string{"identity", "digest"}},
		{"incarnation damaged", func(t *testing.T, data string) { cut(t, data+"/incarnation", 5) }, []string{"incarnation"}},
		{"newer format", func(t *testing.T, data string) { alter(t, data+"/identity", "format 1", "format 2") }, []string{"newer", "version 2"}},
		{"raft missing", func(t *testing.T, data string) { remove(t, data+"/raft") }, []string{"raft", "missing"}},
		{"state missing", func(t *testing.T, data string) { remove(t, data+"/state") }, []string{"state", "missing"}},
		{"state garbage", func(t *testing.T, data string) { garbage(t, data+"/state", "") }, []string{"state"}},
		{"raft garbage", func(t *testing.T, data string) { garbage(t, data+"/raft", "") }, []string{"raft"}},
		{"raft log garbage", func(t *testing.T, data string) { garbage(t, data+"/raft", "dragonboat.ds") }, []string{"raft"}},
		{"definitions lost", func(t *testing.T, data string) { flipLogEnd(t, data+"/raft") }, []string{"lost definitions", "raft"}},
		{"first user lost", func(t *testing.T, data string) { remove(t, data+"/admin.json") }, []string{"lost", "admin.json"}},
		{"authority lost", func(t *testing.T, data string) { remove(t, data+"/tls") }, []string{"lost", "tls"}},
		{"applied revision altered", func(t *testing.T, data string) { alter(t, data+"/formed", "revision ", "revision 1") }, []string{"formed"}},
		{"foreign", func(t *testing.T, data string) {
			remove(t, data)
			nodes.WriteFile(t, data+"/holiday.jpg", []byte("x"))
		}, []string{"not a Nervix data folder", "holiday.jpg"}},
		{"a file", func(t *testing.T, data string) {
			remove(t, data)
			nodes.WriteFile(t, data, []byte("x"))
		}, []string{"not a folder"}},
	}
	whole := t.TempDir() + "/whole"
	root := t.TempDir()
	nodes.WriteFile(t, root+"/in.ndjson", []byte(goods(1, 10)))
	n := nodes.Start(t, nodes.Options{Data: whole, Root: root})
	s := n.Dial()
	s.Do(program{root: root}.text())
	s.Finish("feed")
	n.Stop()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			data := t.TempDir() + "/data"
			if err := os.CopyFS(data, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			c.damage(t, data)
			before := listing(t, data)
			done := nodes.Run(t, root, "dev", "--data", data, "--session-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
			if done.Code != 3 {
				t.Errorf("exit %d, want 3", done.Code)
			}
			if done.Stdout != "" {
				t.Errorf("standard output holds %q", done.Stdout)
			}
			expect(t, done.Stderr, append(c.names, data)...)
			if strings.Contains(done.Stderr, "goroutine ") {
				t.Errorf("the program fell over:\n%s", done.Stderr)
			}
			if after := listing(t, data); c.name == "foreign" && after != before {
				t.Errorf("a foreign folder was changed:\n%s\n%s", before, after)
			}
			t.Logf("%s", done.Stderr)
		})
	}
}

// flipLogEnd changes one bit near the end of the newest log file of the control plane. The log takes what follows for the torn end of a write.
func flipLogEnd(t *testing.T, folder string) {
	t.Helper()
	var newest string
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".log" && path > newest {
			newest = path
		}
		return err
	})
	if err != nil || newest == "" {
		t.Fatalf("no log file below %s: %v", folder, err)
	}
	content, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)-60] ^= 0x10
	if err := os.WriteFile(newest, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLockedFolder names the holder.
func TestLockedFolder(t *testing.T) {
	o := nodes.Options{Data: t.TempDir() + "/data", Root: t.TempDir()}
	n := nodes.Start(t, o)
	done := nodes.Run(t, o.Root, "dev", "--data", o.Data, "--session-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	if done.Code != 3 {
		t.Errorf("exit %d, want 3", done.Code)
	}
	expect(t, done.Stderr, o.Data, "process "+strconv.Itoa(n.PID()))
	n.Dial().Do("LIST DOMAINS")
	n.Stop()
}

// TestPortInUse names the flag and the address.
func TestPortInUse(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	for flag, address := range map[string]string{
		"--session-listen": udp.LocalAddr().String(), "--http-listen": tcp.Addr().String(), "--admin-listen": tcp.Addr().String(),
	} {
		t.Run(flag, func(t *testing.T) {
			arguments := []string{"dev", "--data", t.TempDir() + "/data"}
			for _, f := range []string{"--session-listen", "--http-listen", "--admin-listen"} {
				if f == flag {
					arguments = append(arguments, f, address)
				} else {
					arguments = append(arguments, f, "127.0.0.1:0")
				}
			}
			done := nodes.Run(t, t.TempDir(), arguments...)
			if done.Code != 1 {
				t.Errorf("exit %d, want 1", done.Code)
			}
			expect(t, done.Stderr, flag, address, "in use")
			if done.Stdout != "" {
				t.Errorf("standard output holds %q", done.Stdout)
			}
		})
	}
}

func cut(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func alter(t *testing.T, path, from, to string) {
	t.Helper()
	content := string(nodes.ReadFile(t, path))
	if !strings.Contains(content, from) {
		t.Fatalf("%s holds no %q", path, from)
	}
	nodes.WriteFile(t, path, []byte(strings.Replace(content, from, to, 1)))
}

// garbage overwrites every file of a folder but one with bytes that mean nothing.
func garbage(t *testing.T, folder, but string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == but {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		noise := make([]byte, min(info.Size(), 64<<10))
		for i := range noise {
			noise[i] = byte(i*7 + 3)
		}
		return os.WriteFile(path, noise, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// listing is the names of everything below a path.
func listing(t *testing.T, folder string) string {
	t.Helper()
	var b strings.Builder
	_ = filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		b.WriteString(path + "\n")
		return err
	})
	return b.String()
}
