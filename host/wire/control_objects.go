// SPDX-License-Identifier: Apache-2.0

package wire

import "github.com/nervix-go/nervix/host/wire/gen/controlfb"

// The objects of the control plane's stored forms (docs/formats/control.md). host/registry fills them from its own types and reads them
// back; nothing else uses them.
type (
	ControlKey                 = controlfb.KeyT
	ControlRelated             = controlfb.RelatedT
	ControlDiagnostic          = controlfb.DiagnosticT
	ControlOutcome             = controlfb.OutcomeT
	ControlLimits              = controlfb.LimitsT
	ControlPut                 = controlfb.PutT
	ControlAssignment          = controlfb.AssignmentT
	ControlUser                = controlfb.UserT
	ControlBootstrap           = controlfb.BootstrapT
	ControlNodeStarted         = controlfb.NodeStartedT
	ControlCreateDomain        = controlfb.CreateDomainT
	ControlDropDomain          = controlfb.DropDomainT
	ControlMutateModels        = controlfb.MutateModelsT
	ControlStart               = controlfb.StartT
	ControlStop                = controlfb.StopT
	ControlPutUser             = controlfb.PutUserT
	ControlDropUser            = controlfb.DropUserT
	ControlBeginTransaction    = controlfb.BeginTransactionT
	ControlAppendStatement     = controlfb.AppendStatementT
	ControlSetTransactionState = controlfb.SetTransactionStateT
	ControlConclude            = controlfb.ConcludeT
	ControlStep                = controlfb.StepT
	ControlConclusion          = controlfb.ConclusionT
	ControlCommand             = controlfb.CommandT
	ControlBody                = controlfb.BodyT
	ControlResult              = controlfb.ResultT
	ControlStoredNode          = controlfb.StoredNodeT
	ControlStoredDefinition    = controlfb.StoredDefinitionT
	ControlStoredDomain        = controlfb.StoredDomainT
	ControlStoredExecution     = controlfb.StoredExecutionT
	ControlStoredStatement     = controlfb.StoredStatementT
	ControlStoredTransaction   = controlfb.StoredTransactionT
	ControlBinding             = controlfb.BindingT
	ControlFrozen              = controlfb.FrozenT
	ControlAdmitVersion        = controlfb.AdmitVersionT
	ControlCompleteVersion     = controlfb.CompleteVersionT
	ControlFailVersion         = controlfb.FailVersionT
	ControlReconcileAuthority  = controlfb.ReconcileAuthorityT
	ControlStoredVersion       = controlfb.StoredVersionT
	ControlStoredResource      = controlfb.StoredResourceT
	ControlSnapshot            = controlfb.SnapshotT
)

// The enumerations of the stored forms. Their numbers are those of host/registry.
type (
	ControlPace             = controlfb.Pace
	ControlPlacement        = controlfb.Placement
	ControlStatus           = controlfb.Status
	ControlTransactionState = controlfb.TransactionState
	ControlVersionState     = controlfb.VersionState
	ControlVerdict          = controlfb.Verdict
	ControlBodyType         = controlfb.Body
)

// The bodies of a command.
const (
	ControlBodyBootstrap           = controlfb.BodyBootstrap
	ControlBodyNodeStarted         = controlfb.BodyNodeStarted
	ControlBodyCreateDomain        = controlfb.BodyCreateDomain
	ControlBodyDropDomain          = controlfb.BodyDropDomain
	ControlBodyMutateModels        = controlfb.BodyMutateModels
	ControlBodyStart               = controlfb.BodyStart
	ControlBodyStop                = controlfb.BodyStop
	ControlBodyPutUser             = controlfb.BodyPutUser
	ControlBodyDropUser            = controlfb.BodyDropUser
	ControlBodyBeginTransaction    = controlfb.BodyBeginTransaction
	ControlBodyAppendStatement     = controlfb.BodyAppendStatement
	ControlBodySetTransactionState = controlfb.BodySetTransactionState
	ControlBodyConclude            = controlfb.BodyConclude
	ControlBodyAdmitVersion        = controlfb.BodyAdmitVersion
	ControlBodyCompleteVersion     = controlfb.BodyCompleteVersion
	ControlBodyFailVersion         = controlfb.BodyFailVersion
	ControlBodyReconcileAuthority  = controlfb.BodyReconcileAuthority
)
