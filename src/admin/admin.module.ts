import { Module } from '@nestjs/common';
import { AdminGuard } from './admin.guard.js';
import { Administrators } from './administrators.service.js';

@Module({ providers: [Administrators, AdminGuard], exports: [Administrators, AdminGuard] })
export class AdminModule {}
