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
