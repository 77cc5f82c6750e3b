export { checkUnderWay, isCheckUnderWay } from './check-under-way.js';
export { FORGES, type ForgeName } from './forge-names.js';
export { type ForgePlace, placeOf, whyNoPlace } from './place.js';
