// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Lives of certificates. A certificate is made anew when less than renewBefore is left.
const (
	authorityLife = 10 * 365 * 24 * time.Hour
	serverLife    = 365 * 24 * time.Hour
	renewBefore   = 30 * 24 * time.Hour
	// clockSlack is how far the clocks of clients may be behind.
	clockSlack = time.Hour
)

// Certificates are what a node shows to its clients.
type Certificates struct {
	// CAPEM is the private certificate authority of the cluster; clients trust it and nothing else.
	CAPEM []byte
	// Server is the node's certificate with its key, signed by the authority.
	Server tls.Certificate
	// ResetKey makes stateless resets of QUIC recognisable over restarts.
	ResetKey [32]byte
}

// Certificates reads or makes the authority, the node's certificate for localhost, 127.0.0.1, ::1 and hosts, and the reset key. The
// authority stays over restarts; the node's certificate is made again when it is near its end, when hosts are missing in it, or when it
// is not of this authority. Faults: daemon.damaged for files that cannot be read as what they are.
func (d *Dir) Certificates(now vtime.UTC, hosts ...string) (Certificates, error) {
	var c Certificates
	if _, err := d.Sub(tlsName); err != nil {
		return c, err
	}
	at := time.Unix(0, now.NS()).UTC()
	authority, err := d.authority(at)
	if err != nil {
		return c, err
	}
	if c.Server, err = d.server(at, authority, append([]string{"localhost", "127.0.0.1", "::1"}, hosts...)); err != nil {
		return c, err
	}
	c.CAPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Leaf.Raw})
	c.ResetKey, err = d.resetKey()
	return c, err
}

func (d *Dir) authority(at time.Time) (tls.Certificate, error) {
	pair, err := d.loadPair("ca")
	switch {
	case err == nil && at.Add(renewBefore).Before(pair.Leaf.NotAfter):
		return pair, nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return pair, damaged(d.path, err)
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "Nervix cluster " + d.identity.Cluster.String()},
		NotBefore:             at.Add(-clockSlack),
		NotAfter:              at.Add(authorityLife),
		IsCA:                  true,
		MaxPathLenZero:        true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	return d.makePair("ca", template, nil)
}

func (d *Dir) server(at time.Time, authority tls.Certificate, hosts []string) (tls.Certificate, error) {
	pair, err := d.loadPair("server")
	if err == nil && current(pair.Leaf, at, authority.Leaf, hosts) {
		return pair, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return pair, damaged(d.path, err)
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "Nervix node " + d.identity.Node.String()},
		NotBefore:   at.Add(-clockSlack),
		NotAfter:    at.Add(serverLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if template.NotAfter.After(authority.Leaf.NotAfter) {
		template.NotAfter = authority.Leaf.NotAfter
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else if !slices.Contains(template.DNSNames, h) {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	return d.makePair("server", template, &authority)
}

// current says whether a certificate can go on being shown.
func current(leaf *x509.Certificate, at time.Time, authority *x509.Certificate, hosts []string) bool {
	if leaf.CheckSignatureFrom(authority) != nil || at.Before(leaf.NotBefore) || !at.Add(renewBefore).Before(leaf.NotAfter) {
		return false
	}
	for _, h := range hosts {
		if leaf.VerifyHostname(h) != nil {
			return false
		}
	}
	return true
}

// makePair makes a key and its certificate, signed by authority or by itself, and stores both; the key first, so that a certificate is
// never there without it.
func (d *Dir) makePair(name string, template *x509.Certificate, authority *tls.Certificate) (tls.Certificate, error) {
	var pair tls.Certificate
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return pair, err
	}
	parent, signer := template, any(key)
	if authority != nil {
		parent, signer = authority.Leaf, authority.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return pair, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair, err
	}
	// The old certificate goes first: a crash between the two writes then leaves a key alone, which is made again, and no pair that does
	// not fit.
	certificate := d.join(tlsName, name+".pem")
	if err := os.Remove(certificate); err != nil && !errors.Is(err, os.ErrNotExist) {
		return pair, err
	}
	if err := replace(d.join(tlsName, name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), privateFile); err != nil {
		return pair, err
	}
	if err := replace(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), publicFile); err != nil {
		return pair, err
	}
	return d.loadPair(name)
}

// loadPair reads a certificate with its key; a missing certificate is os.ErrNotExist.
func (d *Dir) loadPair(name string) (tls.Certificate, error) {
	certificate, err := os.ReadFile(d.join(tlsName, name+".pem"))
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := os.ReadFile(d.join(tlsName, name+".key"))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("key of certificate %s: %v", name, err)
	}
	pair, err := tls.X509KeyPair(bytes.TrimSpace(certificate), key)
	if err != nil {
		return pair, fmt.Errorf("certificate %s: %w", name, err)
	}
	return pair, nil
}

func (d *Dir) resetKey() (key [32]byte, err error) {
	path := d.join(tlsName, "reset.key")
	content, err := os.ReadFile(path)
	switch {
	case err == nil && len(content) == len(key):
		copy(key[:], content)
		return key, nil
	case err == nil:
		return key, damaged(d.path, fmt.Errorf("%s has %d bytes", path, len(content)))
	case !errors.Is(err, os.ErrNotExist):
		return key, err
	}
	_, _ = rand.Read(key[:])
	return key, replace(path, key[:], privateFile)
}
