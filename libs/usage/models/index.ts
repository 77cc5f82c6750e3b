export * from './domain/index.js';
export { ModelsModule } from './models.module.js';
export { calibrateEstimates, pruneCalibrations } from './estimates/calibrate.js';
export { Estimates } from './estimates/estimates.js';
export { ModelPrices } from './prices/model-prices.js';
export { ModelRouting, type RunModel } from './routing/model-routing.js';
