// The earlier name of the program that `npm run check` starts.
import '../generate/main.js';
