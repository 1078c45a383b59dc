from rxlab._native import *
