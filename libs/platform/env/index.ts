export {
  flag,
  integer,
  list,
  oneOf,
  readVariables,
  SettingsError,
  webAddress,
} from './settings.js';
