// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const pipeline = `
CREATE DOMAIN b; USE b;
CREATE SCHEMA event (id I64, device STRING, at DATETIME, value F64, ok BOOL, message STRING);
CREATE WIRE JSON SCHEMA event_wire MODE STRICT (id INTEGER, device STRING, at STRING, value NUMBER, ok BOOLEAN, message STRING);
CREATE CODEC event_codec FROM WIRE JSON SCHEMA event_wire TO SCHEMA event ENCODE at AS RFC3339;
CREATE RELAY a SCHEMA event UNBRANCHED CAPACITY 64;
CREATE RELAY z SCHEMA event UNBRANCHED CAPACITY 64;
CREATE CLIENT files TYPE FILE CONFIG { 'root' = '@ROOT@' };
CREATE INGESTOR src FROM FILE files PATH 'in.ndjson'
    MODE ACK PARALLEL MAX 100000 ACK TIMEOUT 30s RETRY POLICY BACKOFF 100ms MAX 5s ON QUIESCE SUSPEND
  DECODE USING event_codec
  TO a INHERIT ALL UNBRANCHED FLUSH EACH 50ms MAX BATCH SIZE 1MiB ON MESSAGE ERROR LOG
  ON GENERAL ERROR LOG;
CREATE JUNCTION j FROM a UNBRANCHED
  TO z INHERIT ALL EXCEPT message SET message = upper(input.message) WHERE contains(input.message, 'omega')
    FLUSH EACH 50ms MAX BATCH SIZE 1MiB ON MESSAGE ERROR LOG;
CREATE EMITTER e FROM z TO FILE files PATH 'out.ndjson' MODE ACK RETRY POLICY BACKOFF 100ms MAX 5s ENCODE USING event_codec
  INHERIT ALL FLUSH EACH 50ms MAX BATCH SIZE 4MiB ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
START;
`

func nervixCommand(nervixd, dir string) []string {
	file := filepath.Join(dir, "pipeline.nspl")
	check(os.WriteFile(file, []byte(strings.ReplaceAll(pipeline, "@ROOT@", dir)), 0o644))
	return []string{nervixd, "run", file, "--file-root", dir}
}

const benthos = `
http: { enabled: false }
logger: { level: ERROR }
input:
  file:
    paths: [ @ROOT@/in.ndjson ]
    scanner: { lines: {} }
pipeline:
  processors:
    - mapping: |
        root = this
        root.message = if this.message.contains("omega") { this.message.uppercase() } else { deleted() }
        root = if !this.message.contains("omega") { deleted() }
output:
  file:
    path: @ROOT@/out.ndjson
    codec: lines
`

func benthosCommand(binary, dir string) []string {
	file := filepath.Join(dir, "benthos.yaml")
	check(os.WriteFile(file, []byte(strings.ReplaceAll(benthos, "@ROOT@", dir)), 0o644))
	return []string{binary, "run", file}
}

type event struct {
	ID      int64     `json:"id"`
	Device  string    `json:"device"`
	At      time.Time `json:"at"`
	Value   float64   `json:"value"`
	OK      bool      `json:"ok"`
	Message string    `json:"message"`
}

// loop is what somebody writes by hand with the standard library.
func loop(input, output string) error {
	in, err := os.Open(input)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(output)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, 1<<20)
	encoder := json.NewEncoder(w)
	scanner := bufio.NewScanner(in)
	scanner.Buffer(make([]byte, 1<<20), 16<<20)
	for scanner.Scan() {
		var e event
		if err := json.Unmarshal(scanner.Bytes(), &e); err != nil {
			return err
		}
		if !strings.Contains(e.Message, word) {
			continue
		}
		e.Message = strings.ToUpper(e.Message)
		if err := encoder.Encode(e); err != nil {
			return err
		}
	}
	if err := scanner.Err(); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return out.Close()
}
