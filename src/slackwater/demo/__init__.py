"""The demonstration: a service hurt, batch squeezed just enough, the service well again, and one sentence why."""
