import { Module } from '@nestjs/common';
import { AuditLog } from './log/audit-log.js';
import { AuditController } from './http/audit.controller.js';

/** The audit log. */
@Module({
  controllers: [AuditController],
  providers: [AuditLog],
  exports: [AuditLog],
})
export class AuditModule {}
