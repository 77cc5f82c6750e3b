export {
  flag,
  integer,
  list,
  oneOf,
  readVariables,
  SettingsError,
  webAddress,
  wholeNumber,
} from './settings.js';
