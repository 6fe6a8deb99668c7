package fleet

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/storage"
)

// receipts is the store into which OPA's bundle plugin writes. When receipts are committed, their bundles
// become active, or the commit fails: so the bundles that OPA takes for active are those that judge.
type receipts struct {
	storage.Store
	take func(ctx context.Context, digests map[string]string) error

	writing sync.Map          // ids of transactions that write
	have    map[string]string // committed receipts by bundle; there is one writer at a time
}

// NewTransaction notes which transactions write.
func (s *receipts) NewTransaction(ctx context.Context,
	params ...storage.TransactionParams) (storage.Transaction, error) {
	txn, err := s.Store.NewTransaction(ctx, params...)
	if err == nil && len(params) > 0 && params[0].Write {
		s.writing.Store(txn.ID(), true)
	}
	return txn, err
}

// Abort forgets a transaction.
func (s *receipts) Abort(ctx context.Context, txn storage.Transaction) {
	s.writing.Delete(txn.ID())
	s.Store.Abort(ctx, txn)
}

// Commit lets the bundles of new receipts become active before it commits them.
func (s *receipts) Commit(ctx context.Context, txn storage.Transaction) error {
	if _, writes := s.writing.LoadAndDelete(txn.ID()); !writes {
		return s.Store.Commit(ctx, txn)
	}
	digests, err := s.digests(ctx, txn)
	if err == nil && !maps.Equal(digests, s.have) {
		err = s.take(ctx, digests)
	}
	if err != nil {
		s.Store.Abort(ctx, txn)
		return err
	}
	if err := s.Store.Commit(ctx, txn); err != nil {
		return err
	}
	s.have = digests
	return nil
}

// digests reads the receipts of a transaction.
func (s *receipts) digests(ctx context.Context, txn storage.Transaction) (map[string]string, error) {
	names, err := bundle.ReadBundleNamesFromStore(ctx, s.Store, txn)
	if err != nil && !storage.IsNotFound(err) {
		return nil, fmt.Errorf("read receipts: %w", err)
	}
	digests := make(map[string]string, len(names))
	for _, name := range names {
		metadata, err := bundle.ReadBundleMetadataFromStore(ctx, s.Store, txn, name)
		if err != nil {
			return nil, fmt.Errorf("read receipt of %s: %w", name, err)
		}
		digest, ok := metadata[digestKey].(string)
		if !ok {
			return nil, fmt.Errorf("read receipt of %s: it names no bundle", name)
		}
		digests[name] = digest
	}
	return digests, nil
}
