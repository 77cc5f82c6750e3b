export * from './domain/index.js';
export { LedgerModule } from './ledger.module.js';
export { closeLedger, openLedger } from './entries/ledger-lock.sql.js';
export {
  decimalOf,
  isSameReport,
  logRow,
  type PricedReport,
  tokensIn,
  totalOf,
  type UsageReport,
} from './entries/reports.js';
export { insertUsage, knownReports } from './entries/usage-logs.sql.js';
export { pruneUsageReports } from './retention/prune-usage.js';
export { dailySums, monthlySums, SUMS } from './store/counted.sql.js';
export { rebuildUsageRollups } from './sums/usage-rebuild.js';
export { UsageRollup } from './sums/usage-rollup.js';
