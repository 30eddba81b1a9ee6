import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bytes, instant, nullable, secret, text, uuid } from '../database/columns.js';
import type { Role } from './role.js';

/** An administrator's key, of which only the SHA-256 is stored. A revoked key keeps its row. */
@Entity({ name: 'admin_keys', synchronize: false })
export class AdminKey {
  @PrimaryColumn(uuid('id'))
  id: string;

  @Column(text('name'))
  name: string;

  @Column(text('role'))
  role: Role;

  @Column(secret(bytes('key_hash')))
  keyHash: Buffer;

  /** The administrator who created it; null if the key was created by an earlier version. */
  @Column(nullable(text('created_by')))
  createdBy: string | null;

  @Column(instant('created_at'))
  createdAt: Date;

  /** When a use was last recorded; null if the key was never used. At most one use a minute is recorded. */
  @Column(nullable(instant('last_used_at')))
  lastUsedAt: Date | null;

  /** When the key ceases to be valid; null if only a revocation ends it. */
  @Column(nullable(instant('expires_at')))
  expiresAt: Date | null;

  @Column(nullable(instant('revoked_at')))
  revokedAt: Date | null;
}
