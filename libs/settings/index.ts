export { flag, integer, list, oneOf, readVariables, webAddress } from './settings.js';
