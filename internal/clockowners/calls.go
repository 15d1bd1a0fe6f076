// SPDX-License-Identifier: Apache-2.0

package clockowners

// Class is a time class of the operating system's clocks (gaps 2.4). Domain time and source timestamps are no business of this check.
type Class string

// UTC is an observation of actual UTC, Physical the monotonic clock with its timers and deadlines. Logical is for lane timers alone: they are physical,
// but what is armed on them with a bound clock's Until is a deadline of domain time, which stays logical (C-207).
const (
	UTC      Class = "utc"
	Physical Class = "physical"
	Logical  Class = "logical"
)

// calls gives the class of everything that is looked for.
var calls = map[string][]Class{
	"osclock.UTC": {UTC}, "osclock.Mono": {Physical}, "osclock.Wait": {Physical}, "osclock.WithTimeout": {Physical}, "osclock.NewAlarm": {Physical},
	"osclock.AfterFunc": {Physical}, "osclock.Every": {Physical}, "osclock.After": {Physical}, "osclock.WaitUntil": {Physical},
	"lanes.Arm": {Physical, Logical},

	"time.Now": {UTC, Physical}, "time.Since": {Physical}, "time.Until": {Physical}, "time.Sleep": {Physical}, "time.After": {Physical},
	"time.AfterFunc": {Physical}, "time.Tick": {Physical}, "time.NewTimer": {Physical}, "time.NewTicker": {Physical},
	"context.WithTimeout": {Physical}, "context.WithDeadline": {Physical}, "context.WithTimeoutCause": {Physical}, "context.WithDeadlineCause": {Physical},
	"net.DialTimeout": {Physical},

	"syscall.Gettimeofday": {UTC}, "syscall.Time": {UTC}, "syscall.Nanosleep": {Physical}, "syscall.Select": {Physical},
	"unix.ClockGettime": {UTC, Physical}, "unix.Gettimeofday": {UTC}, "unix.Time": {UTC}, "unix.Nanosleep": {Physical}, "unix.ClockNanosleep": {Physical},
	"unix.TimerfdCreate": {Physical}, "unix.TimerfdSettime": {Physical}, "unix.Poll": {Physical}, "unix.Select": {Physical},
	"uuid.NewV7": {UTC}, "uuid.NewV6": {UTC}, "uuid.NewUUID": {UTC},

	"method:SetDeadline": {Physical}, "method:SetReadDeadline": {Physical}, "method:SetWriteDeadline": {Physical},
}

// packageOf says which packages are meant by the names in calls.
var packageOf = map[string]string{
	"osclock": module + "/host/osclock", "time": "time", "context": "context", "net": "net", "syscall": "syscall", "unix": "golang.org/x/sys/unix",
	"uuid": "github.com/google/uuid",
}

// fields are fields of library types that arm a physical deadline inside the library.
var fields = map[string]bool{
	"Timeout": true, "Deadline": true, "ReadTimeout": true, "ReadHeaderTimeout": true, "WriteTimeout": true, "IdleTimeout": true, "IdleConnTimeout": true,
	"HandshakeIdleTimeout": true, "MaxIdleTimeout": true, "KeepAlivePeriod": true, "TLSHandshakeTimeout": true, "ResponseHeaderTimeout": true,
	"StartTimeout": true, "WaitDelay": true,
}

// forbidden are imports that read a clock in every use.
var forbidden = map[string]bool{"golang.org/x/time/rate": true}

// classesOf gives the classes of a use; whatever is not in calls is physical.
func classesOf(call string) []Class {
	if c := calls[call]; c != nil {
		return c
	}
	switch call {
	case "Date.now", "newDate", "gettimeofday", "timespec_get", "time(NULL", "time(0", "time(nullptr", "system_clock::now", "SystemTime::now":
		return []Class{UTC}
	case "clock_gettime", "linkname":
		return []Class{UTC, Physical}
	}
	return []Class{Physical}
}
