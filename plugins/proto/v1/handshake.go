// SPDX-License-Identifier: Apache-2.0

package pluginv1

import (
	"context"
	"errors"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// Version is the number this protocol has in the handshake and in descriptors.
const Version = 1

// ServiceName is the name under which go-plugin dispenses the control service.
const ServiceName = "connector"

// File descriptors a connector process inherits beside the standard ones.
const (
	DataFD  = 3 // stream socket of plugins/wire
	GuardFD = 4 // read end of a pipe that closes when the host is gone
)

// Handshake tells a connector that a Nervix host started it. The cookie is no secret.
var Handshake = plugin.HandshakeConfig{
	ProtocolVersion:  Version,
	MagicCookieKey:   "NERVIX_CONNECTOR",
	MagicCookieValue: "2f3c8f0e-connector",
}

// Set is the plugin set of this version; server is nil on the host.
func Set(server ConnectorServer) map[int]plugin.PluginSet {
	return map[int]plugin.PluginSet{Version: {ServiceName: &servicePlugin{server: server}}}
}

type servicePlugin struct {
	plugin.NetRPCUnsupportedPlugin
	server ConnectorServer
}

// GRPCServer implements plugin.GRPCPlugin.
func (p *servicePlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	if p.server == nil {
		return errors.New("no server on this side")
	}
	RegisterConnectorServer(s, p.server)
	return nil
}

// GRPCClient implements plugin.GRPCPlugin.
func (p *servicePlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return NewConnectorClient(c), nil
}
