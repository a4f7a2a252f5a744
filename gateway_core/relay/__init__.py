"""The multi-tenant relay: one decision body in, one attempt upstream, the same bytes back.

Pure of any server: ``relay.Relay`` takes headers, an iterator of body chunks and a record to
fill, and returns a status, headers and a body. The order of its checks is the contract's.
"""
