import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { QueryDeepPartialEntity, Repository } from 'typeorm';
import { databaseTime } from '../database/columns.js';
import type { Transaction } from '../database/database.js';
import type { PageAfter } from '../api/lists/page.js';
import { changesNothing } from './changes-nothing.js';
import { OperatorEntity, ProviderEntity, type TenantEntity } from './tenant.entity.js';
import type { TenantKind } from './tenant.js';

type SetByDatabase = 'encryptedSecret' | 'createdAt' | 'updatedAt';
export type NewTenant = Omit<ProviderEntity, SetByDatabase> | Omit<OperatorEntity, SetByDatabase>;

/** The columns to change: undefined leaves a column unchanged; null resets it to its default. */
type Changes<Entity> = { readonly [Column in keyof Entity]?: Entity[Column] | undefined };
export type TenantChanges = Changes<
  Omit<ProviderEntity, 'id' | 'kind' | SetByDatabase> & Omit<OperatorEntity, 'id' | 'kind' | SetByDatabase>
>;

@Injectable()
export class TenantStore {
  private readonly tenants: Readonly<Record<TenantKind, Repository<TenantEntity>>>;

  constructor(
    @InjectRepository(ProviderEntity) providers: Repository<ProviderEntity>,
    @InjectRepository(OperatorEntity) operators: Repository<OperatorEntity>,
  ) {
    this.tenants = { PROVIDER: providers, OPERATOR: operators };
  }

  /** @returns undefined if the id is taken, by a tenant of either kind */
  async insert(
    { manager }: Transaction,
    tenant: NewTenant,
    encryptedSecret: string,
  ): Promise<TenantEntity | undefined> {
    const tenants = manager.withRepository(this.tenants[tenant.kind]);
    const result = await tenants
      .createQueryBuilder()
      .insert()
      .values({ ...tenant, encryptedSecret, createdAt: databaseTime, updatedAt: databaseTime })
      .orIgnore()
      .updateEntity(false)
      .returning('id')
      .execute();
    const inserted = result.raw as readonly unknown[];
    return inserted.length === 0 ? undefined : tenants.findOneByOrFail({ id: tenant.id });
  }

  /** @returns the tenant before and after, the same if nothing changes; undefined if there is none of this kind */
  async change(
    { manager }: Transaction,
    kind: TenantKind,
    id: string,
    changes: TenantChanges,
  ): Promise<{ before: TenantEntity; after: TenantEntity } | undefined> {
    const tenants = manager.withRepository(this.tenants[kind]);
    // This lock blocks other changes, but not launches, whose new sessions refer to the row.
    const before = await tenants.findOne({ where: { id }, lock: { mode: 'for_no_key_update' } });
    if (!before) return undefined;
    if (changesNothing(before, changes)) return { before, after: before };
    const columns = { ...changes, updatedAt: databaseTime };
    await tenants.update({ id }, columns as QueryDeepPartialEntity<TenantEntity>);
    return { before, after: await tenants.findOneByOrFail({ id }) };
  }

  find(kind: TenantKind, id: string): Promise<TenantEntity | null> {
    return this.tenants[kind].findOneBy({ id });
  }

  list(kind: TenantKind, { after, limit }: PageAfter): Promise<TenantEntity[]> {
    return this.tenants[kind]
      .createQueryBuilder('tenant')
      .where('tenant.id COLLATE "C" > :after', { after })
      .orderBy('tenant.id COLLATE "C"')
      .limit(limit)
      .getMany();
  }
}
