# Sourced by what measures rounds of datagrams in turns; takes its arguments, `datagrams` being the default:
#
#   [-n DATAGRAMS] [-r ROUNDS] [PAYLOAD-BYTES…]      default 25 rounds, payloads 64 and 4056
#
# Sets datagrams, rounds, payloads; the command `lab` that runs a bash, in the guest, or on this host where
# FRAMECAST_RDMA_DEVICE names one or several; and its devices.
# shellcheck shell=bash disable=SC2034 # Used by the scripts that source it.
rounds=25
while getopts n:r: option; do
    case $option in
        n) datagrams=$OPTARG ;;
        r) rounds=$OPTARG ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
payloads=("$@")
[ $# -gt 0 ] || payloads=(64 4056)
lab=("$here/run.sh" -- bash)
devices='rxe1 rxe2 rxe3'
if [ -n "${FRAMECAST_RDMA_DEVICE:-}" ]; then
    lab=(bash)
    devices=${FRAMECAST_RDMA_DEVICE//,/ }
    # One is both ends.
    [[ $devices == *' '* ]] || devices+=" $devices"
fi
