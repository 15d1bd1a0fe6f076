// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"strings"
	"testing"
)

// refusals: what is wrong, why, and what to do instead.
func refusals(t *testing.T, w *world) {
	// req: C-012
	// req: C-017 half: what a statement can say
	// req: C-133 half: START of an unpaced domain takes neither instant nor rate
	s := w.session(t, "")
	s.Do("CREATE PACED DOMAIN strict WITH PERIOD 1s SKEW 0s;\nCREATE DOMAIN loose;\n")
	const (
		pace     = "PACED DOMAIN"
		rate     = "TIME RATE is a positive number such as 2, 0.25 or 1e-3"
		reach    = "instants reach from 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z"
		rfc      = "write date, time and offset"
		unpaced  = "START it plainly or AT NOW, or create a PACED domain"
		instant  = "START AT '2012-01-01T00:00:00Z'"
		longest  = "a duration is at most 18446744073709551615 nanoseconds"
		ordered  = "WITH PERIOD duration SKEW duration, in this order"
		timeRate = "TIME RATE stands directly after START AT"
	)
	for _, c := range []struct {
		domain, text string
		want         []string
	}{
		{"", "CREATE " + pace + " x WITH PERIOD 0s SKEW 1s", []string{"the period must not be zero", "250ms"}},
		{"", "CREATE " + pace + " x WITH PERIOD 1s SKEW -1s", []string{"a skew is a duration from 0ns"}},
		{"", "CREATE " + pace + " x WITH PERIOD 18446744073709551616ns SKEW 0s", []string{"too long", longest}},
		{"", "CREATE " + pace + " x WITH PERIOD 1s SKEW 300000d", []string{"too long", longest}},
		{"", "CREATE " + pace + " x WITH PERIOD 1.5s SKEW 0s", []string{"1500ms in place of 1.5s"}},
		{"", "CREATE " + pace + " x WITH PERIOD 1s", []string{"SKEW", ordered}},
		{"", "CREATE " + pace + " x WITH SKEW 1s PERIOD 1s", []string{"PERIOD", ordered}},
		{"", "CREATE " + pace + " x", []string{"WITH PERIOD", ordered}},
		{"", "CREATE UNPACED DOMAIN x WITH PERIOD 1s SKEW 1s", []string{"only a paced domain has a period"}},
		{"", "CREATE DOMAIN x WITH PERIOD 1s SKEW 1s", []string{"only a paced domain has a period"}},
		{"strict", "START AT NOW TIME RATE 0.0", []string{"the rate must not be 0", rate}},
		{"strict", "START AT NOW TIME RATE -2.0", []string{rate}},
		{"strict", "START AT NOW TIME RATE NaN", []string{rate}},
		{"strict", "START AT NOW TIME RATE inf", []string{rate}},
		{"strict", "START AT NOW TIME RATE 1e309", []string{"too large", "1.7976931348623157e308"}},
		{"strict", "START AT NOW TIME RATE 1e-324", []string{"becomes 0", "5e-324"}},
		{"strict", "START TIME RATE 2.0", []string{timeRate}},
		{"strict", "START AT '2262-04-11T23:47:16.854775808Z'", []string{"does not fit", reach}},
		{"strict", "START AT '1677-09-21T00:12:43.145224191Z'", []string{"does not fit", reach}},
		{"strict", "START AT '9999-01-01T00:00:00Z' TIME RATE 2.0", []string{"does not fit", reach}},
		{"strict", "START AT '2012-02-30T00:00:00Z'", []string{"there is no such date or time"}},
		{"strict", "START AT '2016-12-31T23:59:60Z'", []string{"there is no second 60"}},
		{"strict", "START AT '2012-01-01'", []string{"RFC 3339", rfc}},
		{"strict", "START AT '2012-01-01T00:00:00'", []string{"RFC 3339", rfc}},
		{"strict", "START AT '2012-01-01T00:00:00.0000000001Z'", []string{"nothing is rounded"}},
		{"strict", "START AT '2012-01-01T00:00:00+24:00'", []string{"an offset is Z, or -23:59 to +23:59"}},
		{"strict", "START AT 5", []string{"an RFC 3339 instant in quotes"}},
		{"strict", "STOP", []string{"domain.stopped", "strict"}},
		{"loose", instant, []string{"clock.unpaced", "START AT a timestamp needs a paced domain", unpaced}},
		{"loose", instant + " TIME RATE 2.0", []string{"clock.unpaced", unpaced}},
		{"loose", "START AT NOW TIME RATE 1.0", []string{"clock.unpaced", "TIME RATE needs a paced domain", unpaced}},
		{"nowhere", "START", []string{"domain.unknown", "nowhere", "CREATE DOMAIN"}},
		{"", "START", []string{"domain.unselected", "USE a domain first"}},
	} {
		s.Use(c.domain)
		told := s.Refused(c.text)
		for _, part := range c.want {
			if !strings.Contains(told, part) {
				t.Errorf("%s in %q: %s\nlacks %q", c.text, c.domain, told, part)
			}
		}
	}
	for _, name := range []string{"strict", "loose"} {
		if got := entry(t, s, name); got.Status != "STOPPED" || got.StartVersion != 0 {
			t.Errorf("a refusal changed %+v", got)
		}
	}

	// The ends of every range are inside.
	s.Do("CREATE PACED DOMAIN widest WITH PERIOD 18446744073709551615ns SKEW 18446744073709551615ns")
	s.Use("widest")
	got := entry(t, s, "widest")
	if *got.PeriodNS != 1<<64-1 || *got.SkewNS != 1<<64-1 {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{
		"START AT '2262-04-11T23:47:16.854775807Z'", "START AT '1677-09-21T00:12:43.145224192Z'", "START AT NOW TIME RATE 5e-324",
		"START AT NOW TIME RATE 1.7976931348623157e308", "START AT NOW TIME RATE 1",
	} {
		s.Do(text, ";\nSTOP;\n")
	}
	f := w.follow(t, "widest", "--follow=false")
	if f.ends(); f.holds()[0].generation != 5 {
		t.Errorf("%+v", f.events())
	}
	s.Use("strict")
	s.Do("START")
	if told := s.Refused("START"); !strings.Contains(told, "domain.running") || !strings.Contains(told, "STOP the domain first") {
		t.Error(told)
	}
}
