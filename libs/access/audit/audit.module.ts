import { Module } from '@nestjs/common';
import { AuditLog } from './log/audit-log.js';
import { InstallationLog } from './log/installation-log.js';
import { InstallationAuditController } from './http/installation-audit.controller.js';
import { AuditController } from './http/audit.controller.js';

/** The audit log. */
@Module({
  controllers: [AuditController, InstallationAuditController],
  providers: [AuditLog, InstallationLog],
  exports: [AuditLog],
})
export class AuditModule {}
