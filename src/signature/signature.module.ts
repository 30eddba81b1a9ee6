import { Module } from '@nestjs/common';
import { NonceMemory } from './nonce-memory.js';
import { NonceStore } from './nonce.store.js';
import { Nonces } from './nonces.js';
import { RedisNonces } from './redis-nonces.js';
import { SignatureGuard } from './signature.guard.js';
import { TenantWindows } from './tenant-windows.js';

@Module({
  providers: [SignatureGuard, Nonces, NonceMemory, NonceStore, RedisNonces, TenantWindows],
  exports: [SignatureGuard, TenantWindows],
})
export class SignatureModule {}
