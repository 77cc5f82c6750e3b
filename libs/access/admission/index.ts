export { AdmissionModule } from './admission.module.js';
export { QueueDepths } from './limits/queue-depths.js';
export { SpawnRates } from './limits/spawn-rates.js';
export { Pauses } from './pauses/pauses.service.js';
export { isOfNone, isPaused, pausedTypes } from './store/holding-pauses.js';
export { endOverduePauses } from './store/pauses.sql.js';
export { spawnWaitSeconds } from './store/spawn-wait.js';
