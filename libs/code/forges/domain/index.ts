export { FORGES, type ForgeName } from './forge-names.js';
export { type ForgePlace, placeOf, whyNoPlace } from './place.js';
