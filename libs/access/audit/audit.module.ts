import { Module } from '@nestjs/common';
import { AuditLog } from './audit-log.js';
import { AuditController } from './http/audit.controller.js';

/** Who has changed what, and who was refused. */
@Module({
  controllers: [AuditController],
  providers: [AuditLog],
  exports: [AuditLog],
})
export class AuditModule {}
