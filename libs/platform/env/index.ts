export { type Misspelt, misspeltVariables, UNKNOWN_SETTINGS } from './misspelt.js';
export {
  flag,
  folders,
  integer,
  list,
  oneOf,
  readVariables,
  SettingsError,
  webAddress,
  webAddresses,
  wholeNumber,
} from './settings.js';
