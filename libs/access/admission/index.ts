export { AdmissionModule } from './admission.module.js';
export { QueueDepths } from './limits/queue-depths.js';
export { SpawnRates } from './limits/spawn-rates.js';
export { Pauses } from './pauses/pauses.js';
export {
  isInstallationPaused,
  isOfNone,
  isPaused,
  pausedTypes,
} from './store/holding-pauses.sql.js';
export { endOverduePauses } from './pauses/pauses.sql.js';
export { spawnWaitSeconds } from './limits/spawn-wait.sql.js';
export { ANY_PAUSE_ENDS_RUNS, isEndedByPause } from './store/ending-pauses.sql.js';
