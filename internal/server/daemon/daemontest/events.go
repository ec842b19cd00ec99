package daemontest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/store"
)

// mostHeld is how many events of an org are held to their schemas: some tests
// write a history of years.
const mostHeld = 5000

// Events returns an org's newest events, newest first.
func (w *World) Events(org string) (out []coord.Event) {
	w.t.Helper()
	ctx := context.Background()
	err := w.Store.Read(ctx, func(tx *store.Tx) (err error) {
		out, err = tx.Events(ctx, org, store.EventFilter{Limit: mostHeld})
		return err
	})
	if err != nil {
		w.t.Errorf("the events cannot be read: %v", err)
	}
	return out
}

// holdEvents holds every event that the service wrote in this test to what the
// API document says of its type.
func (w *World) holdEvents() {
	if _, ok := w.t.(*testing.B); ok || w.t.Failed() {
		return
	}
	var orgs []coord.Org
	ctx := context.Background()
	if err := w.Store.Read(ctx, func(tx *store.Tx) (err error) { orgs, err = tx.Orgs(ctx); return err }); err != nil {
		w.t.Errorf("the orgs cannot be read: %v", err)
	}
	wrong, seen := map[coord.EventType]bool{}, map[coord.EventType]bool{}
	for _, o := range orgs {
		for _, e := range w.Events(o.ID) {
			seen[e.Type] = true
			if strings.HasPrefix(e.Subject.ID, "old-") {
				continue // made up by storetest's history, not by the service
			}
			if err := Promised(e); err != nil && !wrong[e.Type] {
				wrong[e.Type] = true
				w.t.Error(err)
			}
		}
	}
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return // only a part of the test was run
	}
	name, _, _ := strings.Cut(w.t.Name(), "/")
	for _, t := range Shown[name] {
		if !seen[t] {
			w.t.Errorf("%s no longer shows an event %s", name, t)
		}
	}
}

// Promised returns how an event is not what the API document says of its type.
func Promised(e coord.Event) error {
	schema, err := eventSchema(e.Type)
	if err != nil {
		return err
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = schema.Validate(v)
	}
	if err != nil {
		return fmt.Errorf("the event is not what the document says of %s: %w\n%s", e.Type, err, text)
	}
	return nil
}

var promised struct {
	sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[coord.EventType]*jsonschema.Schema
}

func eventSchema(t coord.EventType) (*jsonschema.Schema, error) {
	promised.Lock()
	defer promised.Unlock()
	if promised.compiler == nil {
		text, err := json.Marshal(api.New(nil).Document("1", "/"))
		if err != nil {
			return nil, err
		}
		tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		promised.compiler, promised.schemas = jsonschema.NewCompiler(), map[coord.EventType]*jsonschema.Schema{}
		promised.compiler.DefaultDraft(jsonschema.Draft2020)
		promised.compiler.AssertFormat()
		if err := promised.compiler.AddResource("openapi.json", tree); err != nil {
			return nil, err
		}
	}
	s, known := promised.schemas[t]
	if known {
		return s, nil
	}
	s, err := promised.compiler.Compile("openapi.json#/webhooks/" + string(t) + "/post/requestBody/content/application~1json/schema")
	if err == nil {
		promised.schemas[t] = s
	}
	return s, err
}

// Shown are the types of events that tests must have caused when they end, by
// the name of the test: together all there are, so that each type is held to
// its schema by one that the service wrote.
var Shown = map[string][]coord.EventType{
	"TestEveryRow": {
		coord.EventRepoRegistered, coord.EventRepoUpdated, coord.EventRepoMerged, coord.EventRepoRemoved,
		coord.EventProjectCreated, coord.EventProjectUpdated, coord.EventProjectDeleted, coord.EventSessionStarted,
		coord.EventSessionEnded, coord.EventIntentDeclared, coord.EventIntentUpdated, coord.EventIntentBlocked,
		coord.EventIntentUnblocked, coord.EventIntentHandedOff, coord.EventIntentAdopted, coord.EventIntentClosed,
		coord.EventContractChanged, coord.EventConflictDetected, coord.EventConflictAcknowledged,
		coord.EventConflictOverridden, coord.EventConflictFeedback, coord.EventMessageSent, coord.EventMessageAcked,
		coord.EventQuestionAsked, coord.EventQuestionAnswered, coord.EventMemberAdded, coord.EventMemberUpdated,
		coord.EventMemberRemoved, coord.EventMemberErased, coord.EventInviteCreated, coord.EventInviteRevoked, coord.EventTokenCreated,
		coord.EventTokenRevoked, coord.EventPolicyUpdated, coord.EventOrgUpdated, coord.EventWebhookCreated,
		coord.EventWebhookUpdated, coord.EventWebhookReplayed, coord.EventWebhookDeleted, coord.EventWebhookTested,
		coord.EventIntegrationUpdated, coord.EventDigestSent,
	},
	"TestStories": {
		coord.EventSessionStatus, coord.EventSessionTurn, coord.EventIntentDrafted, coord.EventIntentExpired, coord.EventIntentUnattended,
		coord.EventIntentReleased, coord.EventChangeRecorded, coord.EventConflictUpdated, coord.EventConflictResolving,
		coord.EventConflictResolved, coord.EventConflictOverrideRequested, coord.EventConflictStale,
		coord.EventHookWarned, coord.EventHookUnchecked, coord.EventHookBlocked, coord.EventHookStaleWrite, coord.EventPolicyDemoted,
		coord.EventPolicyRestored,
	},
	"TestWorkOfPeopleWithoutSvc": {
		coord.EventBranchPushed, coord.EventBranchGone,
	},
	"TestASubscriptionFromCheckoutToItsEnd": {
		coord.EventBillingUpdated,
	},
	"TestTheLimitsOfAPlan": {
		coord.EventPlanLimitReached,
	},
	"TestAnInviteOpensOneDoorOnce": {
		coord.EventInviteAccepted, coord.EventSigninSucceeded,
	},
	"TestSessionsEnd": {
		coord.EventSigninFailed,
	},
	"TestAMailedLinkBindsAnew": {
		coord.EventSigninRebound,
	},
	"TestAChangedProviderLocksNobodyOut": {
		coord.EventSigninBreakGlass,
	},
	"TestASecondFactor": {
		coord.EventSigninFactor,
	},
	"TestARenamedRepositoryStaysOne": {
		coord.EventRepoRenamed,
	},
	"TestTwoRecordsOfOneRepositoryAreMerged": {
		coord.EventRepoTwins,
	},
}
