// SPDX-License-Identifier: Apache-2.0

package fileconn

// ConnectorAt is the connector with a clock of the test.
var ConnectorAt = connectorAt
