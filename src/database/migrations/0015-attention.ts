import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

export class Attention1764000000015 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(ITEMS);
  }
}

/**
 * Attention items. `kind` and `subject` identify the cause of an item. While a cause is present, it has at most one
 * item, whatever its state: after a person has closed the item, no new one is opened for the same cause.
 */
const ITEMS = `
CREATE TABLE attention_items (
  item_id         uuid PRIMARY KEY,
  kind            text NOT NULL
    CHECK (kind IN ('transaction', 'round', 'grant', 'winnings', 'revocation', 'approval', 'reconciliation')),
  subject         text NOT NULL,
  state           text NOT NULL CHECK (state IN ('OPEN', 'SNOOZED', 'CLOSED')),
  cause_present   boolean NOT NULL DEFAULT true,
  operator_id     text,
  provider_id     text,
  summary         text NOT NULL,
  count           integer CHECK (count > 0),
  href            text,
  range_from      timestamptz,
  range_to        timestamptz,
  assignee        text,
  snoozed_until   timestamptz,
  closed_at       timestamptz,
  closed_by       text,
  closed_by_name  text,
  close_reason    text,
  created_at      timestamptz NOT NULL,
  CHECK ((state = 'SNOOZED') = (snoozed_until IS NOT NULL)),
  CHECK ((state = 'CLOSED') = (closed_at IS NOT NULL)),
  CHECK ((state = 'CLOSED') = (closed_by IS NOT NULL)),
  CHECK (cause_present OR state = 'CLOSED'),
  CHECK ((range_from IS NULL) = (range_to IS NULL))
);
CREATE UNIQUE INDEX attention_items_present ON attention_items (kind, subject) WHERE cause_present;
CREATE INDEX attention_items_snoozed ON attention_items (snoozed_until) WHERE state = 'SNOOZED';
CREATE INDEX attention_items_by_time ON attention_items (created_at, item_id);
CREATE INDEX attention_items_of_state ON attention_items (state, created_at, item_id);
CREATE INDEX attention_items_of_kind ON attention_items (kind, created_at, item_id);
CREATE INDEX attention_items_of_operator ON attention_items (operator_id, created_at, item_id);
CREATE INDEX attention_items_of_provider ON attention_items (provider_id, created_at, item_id);
CREATE INDEX attention_items_of_assignee ON attention_items (assignee, created_at, item_id) WHERE assignee IS NOT NULL;

CREATE TABLE attention_events (
  item_id     uuid NOT NULL REFERENCES attention_items (item_id),
  event_no    bigint GENERATED ALWAYS AS IDENTITY,
  event       text NOT NULL
    CHECK (event IN ('opened', 'assigned', 'unassigned', 'snoozed', 'woken', 'commented', 'closed')),
  actor       text NOT NULL,
  actor_name  text,
  text        text,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (item_id, event_no)
);

-- The time at which any instance last began each search for causes.
CREATE TABLE attention_scans (
  name    text PRIMARY KEY,
  ran_at  timestamptz NOT NULL
);
`;
