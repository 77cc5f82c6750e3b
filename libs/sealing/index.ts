export {
  type DataKey,
  isSealed,
  keyIdOf,
  openValue,
  type Place,
  sealValue,
  shownOf,
} from './domain/sealed-text.js';
export { KeyRing } from './key-ring.js';
export { SealingModule } from './sealing.module.js';
