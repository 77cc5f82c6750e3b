export { AuditLog } from './log/audit-log.js';
export { AuditModule } from './audit.module.js';
export { pruneAuditLog } from './log/audit-log.sql.js';
