export {
  type Agent,
  type AgentTask,
  type CoordinatorLog,
  Prisma,
  type TaskRun,
} from './generated/client.js';
export { Coalescer } from './statements/coalescer.js';
export {
  Companion,
  type CompanionStep,
  type DescribedChange,
  describeChange,
  unaccompanied,
} from './client/companion.js';
export {
  Database,
  type DatabaseOptions,
  type PipelineOptions,
  ServiceScope,
  TenantScope,
} from './client/database.js';
export {
  isUnknownTimeZone,
  isUnreachable,
  mayPass,
  refusesWrites,
  violatedConstraint,
} from './errors/db-errors.js';
export { DatabaseModule } from './database.module.js';
export { checkMigrated, installationId, migrate, MigrationError } from './migrator/index.js';
export { PoolerError, poolerOf, setRoleLimits } from './client/pooler.js';
export { createPool, REQUEST_LIMITS } from './client/pools.js';
export type { PrismaTransaction } from './client/prisma.js';
export {
  command,
  declared,
  firstRow,
  hotCommand,
  lastDrawn,
  query,
  type Sql,
  type SqlRunner,
  type Step,
} from './statements/sql.js';
export {
  columnOf,
  type Columns,
  fieldsBut,
  recordOf,
  type Row,
  selected,
} from './statements/rows.js';
export type { Fence, Transaction } from './client/transaction.js';
