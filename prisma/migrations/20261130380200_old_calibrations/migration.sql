-- Housekeeping removes calibrations of kinds of tasks that nobody runs any more.
GRANT DELETE ON estimate_calibrations TO drover_service;
